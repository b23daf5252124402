// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Where a stream's wait ends if no operation starts it: on the executor of the handlers of its
// pending operations, as any other wait of the stream. If all is on the stream's own executor, as
// most often, there is nothing to keep. Another executor is kept in memory of the library, which
// the stream uses again. It is kept while operations are pending, and does not count as work.
//
// All handlers belong to one strand. So the executor of the first operation does for all that begin
// before the last one of them has ended.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_WATCH_PLACE_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_WATCH_PLACE_HPP

#include <asio_wheel/detail/asio/bound_to.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>

#include <memory>
#include <new>
#include <optional>

namespace asio_wheel::detail {

/// `Impl` has start_wait(bound_to<Executor>).
template <class Impl>
class watch_place {
public:
    watch_place() = default;
    watch_place(const watch_place&) = delete;
    watch_place& operator=(const watch_place&) = delete;
    ~watch_place() = default;

    /// An operation is to begin. `own` is the executor of the stream.
    template <class Handler, class Own>
    void enter([[maybe_unused]] const Handler& handler, [[maybe_unused]] const Own& own) {
        if constexpr (has_own_executor<Handler>) {
            if (!entered_) {
                const auto ex = boost::asio::get_associated_executor(handler, own);
                if (!is_same_executor(own, ex)) {
                    keep(untracked(ex));
                    elsewhere_ = true;
                }
            }
        }
        entered_ = true;
    }

    /// No operation is pending any more.
    void leave() noexcept {
        if (elsewhere_) {
            kept_->leave();
        }
        entered_ = elsewhere_ = false;
    }

    /// Starts a wait here.
    void start_wait(Impl& impl) const {
        if (elsewhere_) {
            kept_->start_wait(impl);
        } else {
            impl.start_wait(bound_to<unassociated>());
        }
    }

private:
    class base {
    public:
        base(const base&) = delete;
        base& operator=(const base&) = delete;

        virtual void start_wait(Impl& impl) const = 0;
        virtual void leave() noexcept = 0;
        virtual void destroy() noexcept = 0;
        [[nodiscard]] virtual const void* type() const noexcept = 0;

    protected:
        base() = default;
        ~base() = default;
    };

    template <class Executor>
    class on final : public base {
    public:
        static constexpr char id = 0; // Its address is that of the type.

        void enter(const Executor& ex) { executor_.emplace(ex); }
        void start_wait(Impl& impl) const override {
            impl.start_wait(bound_to<Executor>{*executor_});
        }
        void leave() noexcept override { executor_.reset(); }
        void destroy() noexcept override {
            block_allocator<on> memory;
            std::destroy_at(this);
            memory.deallocate(this, 1);
        }
        [[nodiscard]] const void* type() const noexcept override { return &id; }

    private:
        std::optional<Executor> executor_;
    };

    struct destroyer {
        void operator()(base* p) const noexcept { p->destroy(); }
    };

    template <class Executor>
    void keep(const Executor& ex) {
        using place = on<Executor>;
        if (kept_ == nullptr || kept_->type() != &place::id) {
            block_allocator<place> memory;
            kept_.reset(::new (static_cast<void*>(memory.allocate(1))) place);
        }
        static_cast<place&>(*kept_).enter(ex);
    }

    template <class Executor>
    [[nodiscard]] static auto untracked(const Executor& ex) {
        if constexpr (is_ts_executor<Executor>) {
            return ex;
        } else {
            return boost::asio::prefer(ex, boost::asio::execution::outstanding_work.untracked);
        }
    }

    std::unique_ptr<base, destroyer> kept_;
    bool entered_ = false;
    bool elsewhere_ = false; // It is what is kept.
};

} // namespace asio_wheel::detail

#endif
