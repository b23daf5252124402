// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/** What peer.hpp says, for timers that are objects: starting one anew is cancelling it and starting another. */
abstract class Peer<Handle> {
    abstract Handle start();

    abstract void cancel(Handle timer);

    abstract void stop() throws InterruptedException;

    private long state = 42;

    /** S. Vigna's splitmix64. */
    private int below(int bound) {
        state += 0x9e3779b97f4a7c15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return (int) Long.remainderUnsigned(z ^ (z >>> 31), bound);
    }

    private void startCancel(int count) {
        for (int i = 0; i < count; ++i) {
            cancel(start());
        }
    }

    private void reArm(Object[] timers, int count) {
        for (int i = 0; i < count; ++i) {
            int next = below(timers.length);
            @SuppressWarnings("unchecked")
            Handle old = (Handle) timers[next];
            cancel(old);
            timers[next] = start();
        }
    }

    private static void report(String name, String workload, int pending, int count, java.util.function.IntConsumer work) {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        work.accept(count); // Until all of it is compiled.
        long before = system.getProcessCpuTime();
        work.accept(count);
        long used = system.getProcessCpuTime() - before;
        System.out.printf(Locale.ROOT, "%s,%s,%d,%.1f%n", name, workload, pending, (double) used / count);
    }

    void main(String name, String[] arguments) throws InterruptedException {
        int pending = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 0;
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000_000;
        Object[] timers = new Object[Math.max(pending, 1)];
        for (int i = 0; i < pending; ++i) {
            timers[i] = start();
        }
        report(name, "start_cancel", pending, count, this::startCancel);
        if (pending == 0) {
            timers[0] = start();
        }
        report(name, "re_arm", pending, count, n -> reArm(timers, n));
        stop();
    }
}
