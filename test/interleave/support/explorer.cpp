// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include "interleave/support/explorer.hpp"

#include "interleave/support/yield_points.hpp"
#include "support/sanitizers.hpp"
#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <iostream>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <unordered_map>

#include <unistd.h>

#if ASIO_WHEEL_TEST_ADDRESS_SANITIZER || ASIO_WHEEL_TEST_THREAD_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if ASIO_WHEEL_TEST_THREAD_SANITIZER
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
}
#endif

namespace asio_wheel::test::interleave {
namespace {

// ThreadSanitizer detects a race of two accesses in each order in which nothing in the library
// orders them. So it needs fewer orders.
constexpr bool sees_races = has_thread_sanitizer;

// Hides the explorer from ThreadSanitizer while this exists. Otherwise the turns of the threads
// would order all their actions.
class unseen {
public:
    unseen() noexcept {
#if ASIO_WHEEL_TEST_THREAD_SANITIZER
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
#endif
    }
    unseen(const unseen&) = delete;
    unseen& operator=(const unseen&) = delete;
    ~unseen() {
#if ASIO_WHEEL_TEST_THREAD_SANITIZER
        AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
    }
};

// Thrown at a yield point of a thread that can never continue, or has continued for too long.
struct abandoned {};

// Passed from thread to thread; its owner runs.
class baton {
public:
    void give() {
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            given_ = true;
        }
        changed_.notify_one();
    }
    void take() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return given_; });
        given_ = false;
    }
    [[nodiscard]] bool take_within(std::chrono::seconds time) {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_for(lock, time, [this] { return std::exchange(given_, false); });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool given_ = false;
};

// A thread of a scenario, and its current yield point.
struct actor {
    explicit actor(std::size_t i) : index(i) {}

    const std::size_t index;
    baton turn;
    // Its next action:
    action next = action::start;
    const void* object = nullptr;
    std::source_location where;
    const bool* held = nullptr;                       // The mutex,
    const std::function<bool()>* condition = nullptr; // Or the required condition.
    bool notified = false;
    bool ended = false;

    [[nodiscard]] bool ready() const {
        if (ended) {
            return false;
        }
        switch (next) {
        case action::wait:
            return notified;
        case action::lock:
            return !*held;
        case action::await:
            return (*condition)();
        default:
            return true;
        }
    }
};

[[nodiscard]] char name_of(std::size_t thread) {
    return static_cast<char>('a' + thread);
}

[[nodiscard]] const char* name_of(action what) {
    constexpr std::array names{"start", "load",     "store",  "modify", "wait", "notify",
                               "lock",  "try_lock", "unlock", "await",  "go on"};
    return names.at(static_cast<std::size_t>(what));
}

// Returns whether the order of the next actions of two threads can matter.
[[nodiscard]] bool dependent(const actor& a, const actor& b) {
    const auto of_the_test = [](const actor& x) { return x.next == action::await; };
    const auto alone = [](const actor& x) {
        return x.next == action::start || x.next == action::go_on;
    };
    if (of_the_test(a) || of_the_test(b)) {
        return true;
    }
    return !alone(a) && !alone(b) && a.object == b.object &&
           (a.next != action::load || b.next != action::load);
}

// A step of a schedule that differs from the default choice.
struct decision {
    std::size_t step;
    std::size_t choice;
    bool of_thread;

    [[nodiscard]] std::string text() const {
        return std::to_string(step) +
               (of_thread ? std::string(1, name_of(choice)) : "=" + std::to_string(choice));
    }
};

[[nodiscard]] std::string text_of(const std::vector<decision>& decisions) {
    std::string text;
    for (const decision& d : decisions) {
        text += (text.empty() ? "" : ".") + d.text();
    }
    return text.empty() ? "-" : text; // Only default choices.
}

[[nodiscard]] std::vector<decision> parsed(std::string_view text) {
    std::vector<decision> decisions;
    if (text == "-") {
        return decisions;
    }
    const auto number = [&text] {
        std::size_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc()) {
            throw std::invalid_argument("ASIO_WHEEL_SCHEDULE: a number is missing at \"" +
                                        std::string(text) + "\"");
        }
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return value;
    };
    for (;;) {
        const std::size_t step = number();
        if (!text.empty() && text[0] == '=') {
            text.remove_prefix(1);
            decisions.push_back({step, number(), false});
        } else if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
            decisions.push_back({step, static_cast<std::size_t>(text[0] - 'a'), true});
            text.remove_prefix(1);
        } else {
            throw std::invalid_argument("ASIO_WHEEL_SCHEDULE: neither a thread nor a value at \"" +
                                        std::string(text) + "\"");
        }
        if (text.empty()) {
            return decisions;
        }
        if (text[0] != '.') {
            throw std::invalid_argument("ASIO_WHEEL_SCHEDULE: no point at \"" + std::string(text) +
                                        "\"");
        }
        text.remove_prefix(1);
    }
}

// An exploration. Only the running thread uses it.
class explorer {
public:
    explorer(std::string name, const bounds& limits, const std::function<void()>& scenario)
        : name_(std::move(name)), limits_(limits), scenario_(scenario) {}
    explorer(const explorer&) = delete;
    explorer& operator=(const explorer&) = delete;
    ~explorer() = default;

    // Runs all schedules within the bounds.
    findings all() {
        findings found;
        path_.clear();
        do {
            run();
            ++(redundant_ ? found.repeated : found.schedules);
            found.steps += step_;
            if (!redundant_ && !outcome_.empty()) {
                ++found.outcomes[outcome_];
            }
            if (fault_) {
                found.wrong = std::move(fault_);
                return found;
            }
            if (found.schedules + found.repeated > limits_.schedules) {
                found.wrong =
                    fault{"more schedules than " + std::to_string(limits_.schedules), "-", {}};
                return found;
            }
        } while (backtrack());
        return found;
    }

    // Runs one schedule, and prints its steps.
    findings one(const std::vector<decision>& schedule) {
        findings found;
        path_.clear();
        script_ = &schedule;
        run();
        script_ = nullptr;
        found.schedules = 1;
        found.steps = step_;
        found.wrong = std::move(fault_);
        if (!found.wrong) {
            std::cout << trace();
        }
        return found;
    }

    // Runs each function on a thread of its own.
    void together(std::vector<std::function<void()>> functions);

    // Called by the yield points of a thread.
    void yield(actor& self, action what, const void* object, const std::source_location& where,
               const bool* held = nullptr, const std::function<bool()>* condition = nullptr);
    void note(std::uint64_t bits) {
        if (!steps_.empty()) {
            steps_.back().result = bits;
            steps_.back().has_result = true;
        }
    }
    void wake(const void* object, bool all);
    [[nodiscard]] bool fails_spuriously();
    void end(actor& self);
    void note_outcome(const std::string& what) { outcome_ = what; }
    void observe(std::function<void()> look) { look_ = std::move(look); }
    [[nodiscard]] bool abandons() const { return abandoned_; }

    void fail(const std::string& what) {
        if (!fault_) {
            fault_ = fault{what, schedule(), {}};
        }
        free_ = true; // Runs to its end without further choices.
    }

    // Allocates nothing, because the program is about to abort.
    void tell_schedule() const noexcept;

private:
    // A choice among several options. Those before `taken` were tried.
    struct choice {
        std::vector<std::size_t> options;
        std::size_t taken;
    };

    struct step {
        std::size_t thread;
        action what;
        const void* object;
        std::source_location where;
        std::uint64_t result;
        bool has_result;
    };

    // Otherwise pruned: the head of explorer.hpp says what that means for yield points.
    [[nodiscard]] bool bounded() const { return limits_.preemptions.has_value(); }
    void run();
    bool backtrack();
    void pass_on(actor* current);
    [[nodiscard]] actor* choose(actor* current);
    [[nodiscard]] std::size_t pick(const std::vector<std::size_t>& options);
    [[nodiscard]] std::optional<std::size_t> scripted(bool of_thread) const;
    void decide(std::size_t chosen, std::size_t usual, bool of_thread) {
        if (chosen != usual) {
            decisions_.push_back({step_, chosen, of_thread});
        }
    }
    void give_up(const std::string& what) {
        fail(what);
        abandoned_ = true;
    }
    [[nodiscard]] std::string schedule() const { return text_of(decisions_); }
    [[nodiscard]] std::string trace() const;
    [[nodiscard]] std::string stands() const;

    const std::string name_;
    const bounds limits_;
    const std::function<void()>& scenario_;
    const std::vector<decision>* script_ = nullptr;

    std::vector<choice> path_; // The choices of the last run, in order.

    // State of one run:
    std::size_t depth_ = 0; // The number of choices so far.
    std::size_t step_ = 0;
    unsigned preemptions_ = 0;
    unsigned spurious_ = 0;
    std::uint64_t sleeping_ = 0; // Threads (a bit each) whose next step leads to explored states.
    bool free_ = false;          // No further choices.
    bool redundant_ = false;
    bool abandoned_ = false;
    std::vector<decision> decisions_;
    std::vector<step> steps_;
    std::optional<fault> fault_;
    std::string outcome_;
    std::function<void()> look_;

    // State of one together():
    std::deque<actor> actors_;
    std::vector<std::size_t> options_;
    baton all_ended_;
    std::atomic<std::size_t> progress_{0}; // together() watches it.
};

std::atomic<explorer*> current = nullptr; // For together(), and for the report before an abort.

// The role of the calling thread in the exploration. It is constructed before all other
// thread_local variables of the thread, and so destroyed after them.
struct role {
    explorer* stage = nullptr;
    actor* self = nullptr;
    ~role();
};
thread_local constinit actor* acting = nullptr; // While its thread is explored.
thread_local role my_role;

role::~role() {
    if (self != nullptr) {
        const unseen all;
        acting = nullptr;
        stage->end(*self);
    }
}

void explorer::run() {
    depth_ = step_ = 0;
    preemptions_ = spurious_ = 0;
    sleeping_ = 0;
    free_ = script_ != nullptr;
    redundant_ = abandoned_ = false;
    decisions_.clear();
    steps_.clear();
    fault_.reset();
    outcome_.clear();
    look_ = nullptr;
    // On a new thread, so that all thread_local variables are new in each run.
    std::thread([this] {
        try {
            scenario_();
        } catch (const std::exception& e) {
            fail(std::string("the scenario has thrown: ") + e.what());
        }
    }).join();
    if (fault_) {
        fault_->trace = trace();
    } else if (!redundant_ && !script_ && depth_ != path_.size()) {
        fault_ = fault{"it did not repeat itself: the scenario is not deterministic", schedule(),
                       trace()};
    }
    if (script_ != nullptr && !fault_) {
        for (const decision& d : *script_) {
            if (d.step > step_) {
                throw std::invalid_argument("ASIO_WHEEL_SCHEDULE: there is no step " +
                                            std::to_string(d.step));
            }
        }
    }
}

// Goes back to the last choice with an alternative left, and takes that. Returns false if there is
// none.
bool explorer::backtrack() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().options.size()) {
        path_.pop_back();
    }
    if (path_.empty()) {
        return false;
    }
    ++path_.back().taken;
    return true;
}

void explorer::together(std::vector<std::function<void()>> functions) {
    if (functions.size() > 26) {
        throw std::invalid_argument("more threads than letters");
    }
    actors_.clear();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        actors_.emplace_back(i);
    }
    for (std::size_t i = 0; i < functions.size(); ++i) {
        threads.emplace_back([this, i, &functions] {
            actor& self = actors_[i];
            bool wanted = true;
            {
                const unseen all;
                my_role.stage = this;
                my_role.self = acting = &self;
                self.turn.take();
                wanted = !abandoned_;
            }
            try {
                if (wanted) {
                    functions[i]();
                }
            } catch (const abandoned&) {
                // This was reported already.
            } catch (const std::exception& e) {
                const unseen all;
                fail(std::string(1, name_of(i)) + " has thrown: " + e.what());
            }
            functions[i] = nullptr; // Its destructor runs here.
        });
    }
    {
        const unseen all;
        pass_on(nullptr);
        for (std::size_t seen = 0; !all_ended_.take_within(std::chrono::seconds(30));) {
            if (std::exchange(seen, progress_.load()) == progress_.load()) {
                std::cerr << "interleave: a thread is blocked, but not at a yield point\n"
                          << trace();
                tell_schedule();
                std::_Exit(1);
            }
        }
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

void explorer::yield(actor& self, action what, const void* object,
                     const std::source_location& where, const bool* held,
                     const std::function<bool()>* condition) {
    if (look_ && !abandoned_) {
        acting = nullptr; // What it does is not explored.
        look_();
        acting = &self;
    }
    self.next = what;
    self.object = object;
    self.where = where;
    self.held = held;
    self.condition = condition;
    self.notified = false;
    const bool releases = what == action::unlock || what == action::go_on;
    if (releases && script_ == nullptr && bounded() == (what == action::unlock)) {
        ++step_; // Not in this mode, but steps have the same numbers in both.
        return;
    }
    if (!abandoned_) {
        pass_on(&self);
    }
    if (abandoned_ && !releases && std::uncaught_exceptions() == 0) {
        throw abandoned();
    }
}

// Lets one of the threads continue. Returns when it is the turn of the current one, unless that has
// ended.
void explorer::pass_on(actor* current_actor) {
    actor* const next = choose(current_actor);
    if (next == current_actor && next != nullptr) {
        return;
    }
    if (next == nullptr) {
        all_ended_.give();
    } else {
        next->turn.give();
    }
    if (current_actor != nullptr && !current_actor->ended) {
        current_actor->turn.take();
    }
}

// The thread that continues; null if all have ended.
actor* explorer::choose(actor* current_actor) {
    ++step_;
    progress_.store(step_, std::memory_order_relaxed);
    if (step_ > limits_.steps && !abandoned_) {
        give_up("it goes on for more than " + std::to_string(limits_.steps) + " steps");
    }
    if (abandoned_) { // The threads leave one after another.
        const auto left =
            std::find_if(actors_.begin(), actors_.end(), [](const actor& a) { return !a.ended; });
        return left == actors_.end() ? nullptr : &*left;
    }
    const bool goes_on = current_actor != nullptr && current_actor->ready();
    const bool full = goes_on && limits_.preemptions && preemptions_ == *limits_.preemptions;
    options_.clear();
    if (goes_on) {
        options_.push_back(current_actor->index);
    }
    for (const actor& a : actors_) {
        if (&a != current_actor && a.ready()) {
            options_.push_back(a.index);
        }
    }
    if (options_.empty()) {
        if (std::all_of(actors_.begin(), actors_.end(), [](const actor& a) { return a.ended; })) {
            return nullptr;
        }
        give_up("deadlock:" + stands());
        return choose(current_actor);
    }
    const std::size_t usual = options_.front();
    std::size_t chosen = usual;
    if (const auto wanted = scripted(true)) {
        if (std::find(options_.begin(), options_.end(), *wanted) == options_.end()) {
            give_up(std::string("ASIO_WHEEL_SCHEDULE: at this step there is no ") +
                    name_of(*wanted));
            return choose(current_actor);
        }
        chosen = *wanted;
    } else if (!free_) {
        if (full) {
            options_.resize(1);
        }
        std::uint64_t explored_here = 0;
        if (!limits_.preemptions) {
            std::erase_if(options_, [this](std::size_t i) { return (sleeping_ >> i & 1U) != 0; });
            if (options_.empty()) {
                redundant_ = free_ = true; // The rest of this run was explored in another order.
            }
        }
        if (!options_.empty()) {
            chosen = pick(options_);
            for (const std::size_t i : options_) {
                if (i == chosen) {
                    break;
                }
                explored_here |= std::uint64_t{1} << i;
            }
        }
        sleeping_ |= explored_here;
    }
    if (goes_on && chosen != current_actor->index) {
        ++preemptions_;
    }
    decide(chosen, usual, true);
    actor& next = actors_[chosen];
    for (const actor& a : actors_) {
        if ((sleeping_ >> a.index & 1U) != 0 && dependent(a, next)) {
            sleeping_ &= ~(std::uint64_t{1} << a.index);
        }
    }
    if (next.next != action::go_on) {
        steps_.push_back({chosen, next.next, next.object, next.where, 0, false});
    }
    return &next;
}

// Makes a choice: as in path_, or the first of its options if path_ ends here.
std::size_t explorer::pick(const std::vector<std::size_t>& options) {
    if (options.size() == 1 || free_) {
        return options.front();
    }
    if (depth_ == path_.size()) {
        path_.push_back({options, 0});
    }
    const choice& c = path_[depth_];
    ++depth_;
    if (c.options != options) {
        fail("it did not repeat itself: the scenario is not deterministic");
        return options.front();
    }
    return c.options[c.taken];
}

std::optional<std::size_t> explorer::scripted(bool of_thread) const {
    if (script_ != nullptr) {
        for (const decision& d : *script_) {
            if (d.step == step_ && d.of_thread == of_thread) {
                return d.choice;
            }
        }
    }
    return std::nullopt;
}

void explorer::wake(const void* object, bool all) {
    options_.clear();
    for (const actor& a : actors_) {
        if (a.next == action::wait && a.object == object && !a.notified && !a.ended) {
            options_.push_back(a.index);
        }
    }
    if (options_.empty()) {
        return;
    }
    if (all) {
        for (const std::size_t i : options_) {
            actors_[i].notified = true;
        }
        return;
    }
    ++step_;
    const std::size_t chosen = scripted(false).value_or(pick(options_));
    decide(chosen, options_.front(), false);
    actors_.at(chosen).notified = true;
}

bool explorer::fails_spuriously() {
    ++step_;
    const bool may = spurious_ < limits_.spurious_failures;
    const bool fails = scripted(false).value_or(may ? pick({0, 1}) : 0) != 0;
    spurious_ += fails ? 1 : 0;
    decide(fails ? 1 : 0, 0, false);
    return fails;
}

void explorer::end(actor& self) {
    self.ended = true;
    pass_on(&self);
}

std::string explorer::stands() const {
    std::string text;
    for (const actor& a : actors_) {
        if (!a.ended) {
            text += std::string(" ") + name_of(a.index) +
                    (a.next == action::lock   ? " waits for a mutex"
                     : a.next == action::wait ? " sleeps"
                                              : " waits for the test's condition");
        }
    }
    return text;
}

std::string explorer::trace() const {
    std::unordered_map<const void*, std::size_t> numbers;
    std::string text;
    for (const step& s : steps_) {
        const std::string_view path = s.where.file_name();
        const std::size_t slash = path.rfind('/');
        text += std::string("    ") + name_of(s.thread) + "  " + name_of(s.what);
        if (s.object != nullptr) {
            text += " #" +
                    std::to_string(numbers.try_emplace(s.object, numbers.size() + 1).first->second);
        }
        if (s.has_result) {
            text += " -> " + std::to_string(s.result);
        }
        if (s.where.line() != 0) {
            text += "    " +
                    std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) +
                    ":" + std::to_string(s.where.line());
        }
        text += '\n';
    }
    return text;
}

void explorer::tell_schedule() const noexcept {
    std::array<char, 4096> text{};
    std::size_t length = 0;
    const auto add = [&](const char* format, auto... values) {
        const int n = std::snprintf(text.data() + length, text.size() - length, format, values...);
        length = std::min(length + static_cast<std::size_t>(std::max(n, 0)), text.size() - 1);
    };
    add("run again with ASIO_WHEEL_SCHEDULE=%s:%s", name_.c_str(), decisions_.empty() ? "-" : "");
    for (std::size_t i = 0; i < decisions_.size(); ++i) {
        const decision& d = decisions_[i];
        if (d.of_thread) {
            add("%s%zu%c", i == 0 ? "" : ".", d.step, name_of(d.choice));
        } else {
            add("%s%zu=%zu", i == 0 ? "" : ".", d.step, d.choice);
        }
    }
    add("%s", "\n");
    static_cast<void>(!::write(STDERR_FILENO, text.data(), length));
}

void last_words() noexcept {
    if (const explorer* const e = current.load()) {
        e->tell_schedule();
    }
}

// While this exists, a program that aborts prints the schedule.
class last_words_scope {
public:
    explicit last_words_scope(explorer& e) {
        if (current.exchange(&e) != nullptr) {
            throw std::logic_error("an exploration inside another one");
        }
#if ASIO_WHEEL_TEST_ADDRESS_SANITIZER || ASIO_WHEEL_TEST_THREAD_SANITIZER
        __sanitizer_set_death_callback(&last_words);
#endif
        for (std::size_t i = 0; i < signals.size(); ++i) {
            former_[i] = std::signal(signals[i], [](int number) {
                last_words();
                std::signal(number, SIG_DFL);
                std::raise(number);
            });
        }
    }
    last_words_scope(const last_words_scope&) = delete;
    last_words_scope& operator=(const last_words_scope&) = delete;
    ~last_words_scope() {
        for (std::size_t i = 0; i < signals.size(); ++i) {
            std::signal(signals[i], former_[i]);
        }
#if ASIO_WHEEL_TEST_ADDRESS_SANITIZER || ASIO_WHEEL_TEST_THREAD_SANITIZER
        __sanitizer_set_death_callback(nullptr);
#endif
        current = nullptr;
    }

private:
#if ASIO_WHEEL_TEST_ADDRESS_SANITIZER || ASIO_WHEEL_TEST_THREAD_SANITIZER
    static constexpr std::array signals{SIGABRT}; // Sanitizers handle the others.
#else
    static constexpr std::array signals{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#endif
    std::array<void (*)(int), signals.size()> former_{};
};

// The name of an unknown exploration must not look like a passed test.
bool schedule_was_used = false;

struct schedule_is_used {
    ~schedule_is_used() {
        if (std::getenv("ASIO_WHEEL_SCHEDULE") != nullptr && !schedule_was_used) {
            BOOST_ERROR("ASIO_WHEEL_SCHEDULE names no exploration that was run");
        }
    }
};

// Returns the schedule in ASIO_WHEEL_SCHEDULE, if it is for this exploration.
[[nodiscard]] std::optional<std::vector<decision>>
schedule_from_environment(const std::string& name) {
    const char* const text = std::getenv("ASIO_WHEEL_SCHEDULE");
    if (text == nullptr || *text == '\0') {
        return std::nullopt;
    }
    const std::string_view all(text);
    const std::size_t colon = all.rfind(':');
    if (colon == std::string_view::npos) {
        throw std::invalid_argument("ASIO_WHEEL_SCHEDULE has to be name:schedule");
    }
    if (all.substr(0, colon) != name) {
        return std::nullopt;
    }
    schedule_was_used = true;
    return parsed(all.substr(colon + 1));
}

} // namespace

BOOST_TEST_GLOBAL_FIXTURE(schedule_is_used);

findings explore(const std::string& name, const bounds& limits,
                 const std::function<void()>& scenario) {
    if (const auto script = schedule_from_environment(name)) {
        explorer e(name, limits, scenario);
        const last_words_scope scope(e);
        return e.one(*script);
    }
    const auto within = [&](const bounds& b) {
        explorer e(name, b, scenario);
        const last_words_scope scope(e);
        return e.all();
    };
    const auto start = std::chrono::steady_clock::now();
    findings found = within(limits);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (unsigned fewer = 0; found.wrong && fewer < limits.preemptions.value_or(4); ++fewer) {
        bounds less = limits;
        less.preemptions = fewer;
        if (findings simpler = within(less); simpler.wrong) {
            found.wrong = std::move(simpler.wrong);
            break;
        }
    }
    std::cout << name << ": " << found.schedules << " schedules";
    if (limits.preemptions) {
        std::cout << " of at most " << *limits.preemptions << " preemptions";
    } else {
        std::cout << ", and " << found.repeated << " that repeat others";
    }
    std::cout << ", " << found.steps << " steps, " << took.count() << " s";
    for (const auto& [what, times] : found.outcomes) {
        std::cout << "; " << what << ": " << times;
    }
    std::cout << '\n';
    return found;
}

namespace {

std::string_view wanted_length() {
    const char* const text = std::getenv("ASIO_WHEEL_INTERLEAVE");
    const std::string_view length = text != nullptr ? text : "";
    if (!length.empty() && length != "full" && length != "short") {
        throw std::invalid_argument("ASIO_WHEEL_INTERLEAVE can be \"full\" or \"short\" only");
    }
    return length;
}

// Each schedule takes long with ThreadSanitizer.
bool with_few_preemptions() {
    return sees_races || wanted_length() == "short";
}

} // namespace

void explore_all(const std::string& name, const bounds& limits, const expected& what,
                 const std::function<void()>& scenario) {
    bounds actual = limits;
    if (const auto wanted = number_from_environment("ASIO_WHEEL_PREEMPTIONS");
        wanted && actual.preemptions) {
        actual.preemptions = std::max(*actual.preemptions, static_cast<unsigned>(*wanted));
        actual.schedules = std::numeric_limits<std::uint64_t>::max();
    } else if (with_few_preemptions() && actual.preemptions) {
        actual.preemptions = std::min(*actual.preemptions, 1U);
    }
    const findings found = explore(name, actual, scenario);
    if (found.wrong) {
        BOOST_ERROR(found.wrong->what + "\nrun again with ASIO_WHEEL_SCHEDULE=" + name + ":" +
                    found.wrong->schedule + "\n" + found.wrong->trace);
    } else if (std::getenv("ASIO_WHEEL_SCHEDULE") == nullptr &&
               !(with_few_preemptions() && actual.preemptions)) {
        std::set<std::string> seen;
        for (const auto& [o, times] : found.outcomes) {
            seen.insert(o);
        }
        BOOST_TEST(found.schedules >= what.schedules,
                   name << ": " << found.schedules << " schedules, and not " << what.schedules);
        BOOST_TEST(seen == what.outcomes, boost::test_tools::per_element());
    }
}

void explore_both(const std::string& name, unsigned preemptions, const expected& what,
                  const std::function<void()>& scenario) {
    explore_all(name, {}, what, scenario);
    if (!with_few_preemptions()) {
        explore_all(name + "_bounded", {.preemptions = preemptions}, what, scenario);
    }
}

bool at_length() {
    return wanted_length() == "full";
}

void outcome(const std::string& what) {
    const unseen all;
    current.load()->note_outcome(what);
}

void together(std::vector<std::function<void()>> functions) {
    explorer* const e = current.load();
    if (e == nullptr || acting != nullptr) {
        throw std::logic_error("together() is for scenarios, and not for their threads");
    }
    e->together(std::move(functions));
}

void observe(std::function<void()> look) {
    current.load()->observe(std::move(look));
}

void check(bool fact, const char* what) noexcept {
    if (!fact) {
        const unseen all;
        current.load()->fail(what);
    }
}

void await(const std::function<bool()>& condition) {
    if (acting != nullptr) {
        const unseen all;
        my_role.stage->yield(*acting, action::await, nullptr, {}, nullptr, &condition);
    } else if (!condition()) {
        check(false, "no thread is left that could make a condition true");
    }
}

bool explored() noexcept {
    return acting != nullptr;
}

void before(action what, const void* object, const std::source_location& where) {
    if (acting != nullptr) {
        const unseen all;
        my_role.stage->yield(*acting, what, object, where);
    }
}

void before_lock(const void* mutex, const bool& held) {
    if (acting != nullptr) {
        const unseen all;
        my_role.stage->yield(*acting, action::lock, mutex, {}, &held);
    }
}

void check_lives(bool ended) noexcept {
    check(!ended || acting == nullptr, "an atomic is used after its end");
}

void came_to(std::uint64_t bits) noexcept {
    if (acting != nullptr) {
        const unseen all;
        my_role.stage->note(bits);
    }
}

void after(const void* object) {
    if (acting != nullptr && !my_role.stage->abandons()) {
        const unseen all;
        my_role.stage->yield(*acting, action::go_on, object, {});
    }
}

void sleep_on(const void* object, const std::source_location& where) {
    if (acting != nullptr) {
        const unseen all;
        my_role.stage->yield(*acting, action::wait, object, where);
    }
}

void wake(const void* object, bool all) {
    if (acting != nullptr) {
        const unseen hidden;
        my_role.stage->wake(object, all);
    }
}

bool fails_spuriously() {
    if (acting == nullptr) {
        return false;
    }
    const unseen all;
    return my_role.stage->fails_spuriously();
}

} // namespace asio_wheel::test::interleave
