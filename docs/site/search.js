// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Lets the search work in pages that are opened as files. There, browsers refuse to fetch the index
// and to start a worker. So the index is loaded as a script, and the worker's code runs in a hidden
// frame. The theme looks for __search, and creates a Worker. The index, which takes a second, is
// loaded when somebody searches.

if (location.protocol === "file:") {
    const here = document.currentScript.src;

    class FrameWorker extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            this.ready = new Promise((resolve, reject) => {
                frame.onload = () => {
                    const inside = frame.contentWindow;
                    inside.postMessage = data =>
                        this.dispatchEvent(new MessageEvent("message", { data }));
                    const script = inside.document.createElement("script");
                    script.src = new URL(url, document.baseURI);
                    script.onload = () => resolve(inside);
                    script.onerror = reject;
                    inside.document.head.append(script);
                };
            });
            frame.srcdoc = "<!doctype html><title>Search</title>";
            document.body.append(frame);
        }

        postMessage(data) {
            this.ready.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })));
        }
    }

    const index = new Promise((resolve, reject) => {
        const load = () => {
            const script = document.createElement("script");
            script.src = new URL("search/search_index.js", here);
            script.onload = () => resolve(window.__search.loaded);
            script.onerror = reject;
            document.head.append(script);
        };
        const begin = event => {
            if (event.target.matches("[data-md-component=search-query]")) {
                document.removeEventListener("focusin", begin);
                load();
            }
        };
        document.addEventListener("focusin", begin);
    });

    window.Worker = FrameWorker;
    window.__search = { index };
}
