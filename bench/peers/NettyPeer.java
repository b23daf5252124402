// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;

/** Netty's hashed wheel of 512 slots, with our tick of 1 ms. The time of its thread is included. */
final class NettyPeer extends Peer<Timeout> {
    private final HashedWheelTimer timer = new HashedWheelTimer(1, TimeUnit.MILLISECONDS, 512);

    @Override
    Timeout start() {
        return timer.newTimeout(expired -> {}, 30, TimeUnit.SECONDS);
    }

    @Override
    void cancel(Timeout timeout) {
        timeout.cancel();
    }

    @Override
    void stop() {
        timer.stop();
    }

    public static void main(String[] arguments) throws InterruptedException {
        new NettyPeer().main("netty", arguments);
    }
}
