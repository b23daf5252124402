// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The code for prometheus-cpp and OpenTelemetry in the guide on operations. Each is compiled and
// run if the library is installed.

#include <asio_wheel/openmetrics.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "snippets/support.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#ifdef ASIO_WHEEL_HAS_PROMETHEUS_CPP
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>
#endif

#ifdef ASIO_WHEEL_HAS_OPENTELEMETRY
#include <opentelemetry/metrics/meter.h>
#include <opentelemetry/metrics/noop.h>
#include <opentelemetry/metrics/observer_result.h>
#endif

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_adapters, *boost::unit_test::timeout(60))

#ifdef ASIO_WHEEL_HAS_PROMETHEUS_CPP

#include "docs/guide/operations.md/std_vector_prometheus_metricfamily.inc"

// Every sample, with the limit of its bucket, or 0 if it is not a bucket; and the types of metrics.
// The name of a sample has its label `kind`.
struct parsed_metrics {
    std::map<std::pair<std::string, double>, double> samples;
    std::map<std::string, std::string> types;
};

// Reads the text format of Prometheus, with one label at most.
parsed_metrics parse(const std::string& text) {
    parsed_metrics result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, second, third, fourth;
        words >> name >> second >> third >> fourth;
        if (name == "#") {
            if (second == "TYPE") {
                result.types[third] = fourth;
            }
            continue;
        }
        double limit = 0;
        if (const auto brace = name.find("{le=\""); brace != std::string::npos) {
            limit = std::strtod(name.c_str() + brace + 5, nullptr);
            name.resize(brace);
        }
        result.samples[{name, limit}] = std::strtod(second.c_str(), nullptr);
    }
    return result;
}

asio_wheel::wheel_stats some_stats() {
    asio_wheel::wheel_stats stats;
    std::uint64_t n = 1;
    for (const asio_wheel::wait_kind kind : asio_wheel::all_wait_kinds) {
        stats.expired[kind] = n += 2;
    }
    for (std::uint64_t* number :
         {&stats.pending, &stats.peak_pending, &stats.scheduled, &stats.fired, &stats.cancelled,
          &stats.postponed, &stats.rejected, &stats.cascaded, &stats.wake_ups,
          &stats.spurious_wake_ups, &stats.stalls, &stats.dropped}) {
        *number = n *= 7; // All are different.
    }
    stats.stalled = 1'234'567us;
    for (auto d = 1ns; d < 60s; d *= 3) {
        stats.lateness.add(d);
        stats.loop_lag.add(d / 2);
        stats.handler_delay.add(d / 5);
    }
    return stats;
}

BOOST_AUTO_TEST_CASE(prometheus_cpp_prints_what_to_prometheus_prints) {
    const asio_wheel::wheel_stats stats = some_stats();
    std::ostringstream out;
    asio_wheel::to_prometheus(out, stats);
    const parsed_metrics expected = parse(out.str());
    const parsed_metrics printed = parse(prometheus::TextSerializer().Serialize(metrics_of(stats)));
    BOOST_TEST(printed.samples.size() > 80U);
    BOOST_TEST(printed.samples.size() == expected.samples.size());
    for (const auto& [key, value] : expected.samples) {
        BOOST_TEST_CONTEXT(key.first << " up to " << key.second) {
            // The limits of buckets are printed with other digits.
            const auto found = printed.samples.lower_bound({key.first, key.second * (1 - 1e-9)});
            BOOST_TEST_REQUIRE((found != printed.samples.end()));
            BOOST_TEST(found->first.first == key.first);
            BOOST_TEST(found->second == value, boost::test_tools::tolerance(1e-12));
        }
    }
    BOOST_TEST((printed.types == expected.types));
}

// real time
BOOST_AUTO_TEST_CASE(prometheus_cpp_serves_the_numbers_of_a_wheel) {
    asio::io_context ctx;
    asio_wheel::steady_timer timer(ctx, 1h);
    timer.async_wait([](error_code) {});
#include "docs/guide/operations.md/auto_metrics_std_make_shared.inc"
    asio::io_context client;
    tcp::socket socket(client);
    const auto port = static_cast<std::uint16_t>(exposer.GetListeningPorts().at(0));
    socket.connect({asio::ip::address_v4::loopback(), port});
    asio::write(socket, asio::buffer(std::string("GET /metrics HTTP/1.0\r\n\r\n")));
    std::string answer;
    error_code ec;
    asio::read(socket, asio::dynamic_buffer(answer), ec);
    BOOST_TEST(answer.find("\nasio_wheel_pending 1\n") != std::string::npos);
}

#endif

#ifdef ASIO_WHEEL_HAS_OPENTELEMETRY

namespace metrics = opentelemetry::metrics;
namespace nostd = opentelemetry::nostd;

#include "docs/guide/operations.md/template_std_uint64_t_asio_wheel.inc"

template <class Meter>
void observe_wheel(asio::io_context& ctx, Meter meter) {
#include "docs/guide/operations.md/auto_wheel_asio_wheel_use_wheel.inc"
}

// What an instrument has observed: a value for each quantile, or for -1.
using observed = std::map<double, double>;

template <class Number>
struct result_to_map : metrics::ObserverResultT<Number> {
    observed values;

    void Observe(Number value) noexcept override { values[-1] = static_cast<double>(value); }
    void Observe(Number value,
                 const opentelemetry::common::KeyValueIterable& attributes) noexcept override {
        attributes.ForEachKeyValue(
            [&](nostd::string_view key, opentelemetry::common::AttributeValue q) {
                BOOST_TEST((key == "quantile"));
                values[nostd::get<double>(q)] = static_cast<double>(value);
                return true;
            });
    }
};

struct stored_callback {
    metrics::ObservableCallbackPtr function = nullptr;
    void* state = nullptr;

    template <class Number>
    observed call() const {
        auto* result = new result_to_map<Number>;
        const nostd::shared_ptr<metrics::ObserverResultT<Number>> owned(result);
        function(owned, state);
        return result->values;
    }
};

struct manual_instrument : metrics::ObservableInstrument {
    explicit manual_instrument(stored_callback& callback) : callback_(callback) {}

    void AddCallback(metrics::ObservableCallbackPtr function, void* state) noexcept override {
        callback_ = {function, state};
    }
    void RemoveCallback(metrics::ObservableCallbackPtr, void*) noexcept override {}

private:
    stored_callback& callback_;
};

// Gives the callbacks of its instruments to the test.
struct manual_meter {
    using instrument = nostd::shared_ptr<metrics::ObservableInstrument>;

    std::map<std::string, stored_callback> callbacks;

    instrument make(const std::string& name) {
        return instrument(new manual_instrument(callbacks[name]));
    }
    instrument CreateInt64ObservableGauge(const char* name) { return make(name); }
    instrument CreateInt64ObservableCounter(const char* name) { return make(name); }
    instrument CreateDoubleObservableGauge(const char* name, const char*, const char*) {
        return make(name);
    }
};

BOOST_FIXTURE_TEST_CASE(opentelemetry_observes_the_numbers_of_a_wheel, snippet_world) {
    metrics::NoopMeter none;
    observe_wheel<metrics::Meter*>(ctx, &none); // The functions are those of a meter.
    manual_meter meter;
    observe_wheel(ctx, &meter);
    auto& callbacks = meter.callbacks;
    BOOST_TEST_REQUIRE(callbacks.size() == 3U);

    asio_wheel::steady_timer soon(ctx, 1s), later(ctx, 1h), last(ctx, 1h);
    soon.async_wait([](error_code) {});
    later.async_wait([](error_code) {});
    last.async_wait([](error_code) {});
    const auto check = [&](double expected_pending, double expected_fired) {
        BOOST_TEST((callbacks["asio_wheel.pending"].call<std::int64_t>() ==
                    observed{{-1, expected_pending}}));
        BOOST_TEST((callbacks["asio_wheel.waits_fired"].call<std::int64_t>() ==
                    observed{{-1, expected_fired}}));
    };
    const auto fired = static_cast<double>(wheel.stats().fired);
    check(3, fired);
    pass(1s);
    check(2, fired + 1);

    const auto lag = wheel.stats().loop_lag;
    observed quantiles;
    for (const double q : {0.5, 0.99, 1.0}) {
        quantiles[q] = std::chrono::duration<double>(lag.quantile(q)).count();
    }
    BOOST_TEST((callbacks["asio_wheel.loop_lag"].call<double>() == quantiles));
    later.cancel();
    last.cancel();
    poll();
}

#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
