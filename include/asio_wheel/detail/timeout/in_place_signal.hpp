// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A cancellation signal that allocates nothing. (boost::asio::cancellation_signal allocates its
// handler, and a thread of Asio keeps the memory of only one.)

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_IN_PLACE_SIGNAL_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_IN_PLACE_SIGNAL_HPP

#include <boost/asio/cancellation_type.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

class in_place_signal {
public:
    /// What Asio calls a CancellationSlot.
    class slot_type {
    public:
        explicit slot_type(in_place_signal* signal) noexcept : signal_(signal) {}

        template <class Handler, class... Args>
        Handler& emplace(Args&&... args) const {
            static_assert(sizeof(Handler) <= sizeof(signal_->storage_) &&
                          alignof(Handler) <= alignof(std::max_align_t));
            clear();
            auto* const handler =
                ::new (static_cast<void*>(signal_->storage_)) Handler(std::forward<Args>(args)...);
            signal_->call_ = [](void* h, boost::asio::cancellation_type type) {
                (*static_cast<Handler*>(h))(type);
            };
            signal_->destroy_ = [](void* h) noexcept { std::destroy_at(static_cast<Handler*>(h)); };
            return *handler;
        }

        template <class Handler>
        std::decay_t<Handler>& assign(Handler&& handler) const {
            return emplace<std::decay_t<Handler>>(std::forward<Handler>(handler));
        }

        void clear() const noexcept { signal_->clear(); }
        [[nodiscard]] bool is_connected() const noexcept { return signal_ != nullptr; }
        [[nodiscard]] bool has_handler() const noexcept { return signal_->call_ != nullptr; }

        friend bool operator==(const slot_type&, const slot_type&) noexcept = default;

    private:
        in_place_signal* signal_;
    };

    in_place_signal() = default;
    in_place_signal(const in_place_signal&) = delete;
    in_place_signal& operator=(const in_place_signal&) = delete;
    ~in_place_signal() { clear(); }

    [[nodiscard]] slot_type slot() noexcept { return slot_type(this); }

    void emit(boost::asio::cancellation_type type) {
        if (call_ != nullptr) {
            call_(storage_, type);
        }
    }

private:
    void clear() noexcept {
        call_ = nullptr;
        if (destroy_ != nullptr) {
            std::exchange(destroy_, nullptr)(storage_);
        }
    }

    void (*call_)(void*, boost::asio::cancellation_type) = nullptr;
    void (*destroy_)(void*) noexcept = nullptr;
    alignas(std::max_align_t) std::byte storage_[4 * sizeof(void*)];
};

} // namespace asio_wheel::detail

#endif
