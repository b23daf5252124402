// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The JDK's timers: a binary heap and a lock. Removes cancelled timers, so that they do not pile up. */
final class JdkPeer extends Peer<ScheduledFuture<?>> {
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

    private JdkPeer() {
        executor.setRemoveOnCancelPolicy(true);
    }

    @Override
    ScheduledFuture<?> start() {
        return executor.schedule(() -> {}, 30, TimeUnit.SECONDS);
    }

    @Override
    void cancel(ScheduledFuture<?> timer) {
        timer.cancel(false);
    }

    @Override
    void stop() {
        executor.shutdownNow();
    }

    public static void main(String[] arguments) throws InterruptedException {
        new JdkPeer().main("jdk", arguments);
    }
}
