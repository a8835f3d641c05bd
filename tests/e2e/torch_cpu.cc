// SPDX-License-Identifier: Apache-2.0
// What the agent knows of PyTorch's libtorch_cpu, by the same names: observers of RecordFunction, autograd's
// numbers, the engine. e2e.python.torch.sh builds it twice, with the two layouts of RecordFunction (-DWIDE).
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace torch::autograd
{
struct Engine {
};
Engine &(*engine)();
void set_default_engine_stub(Engine &(*make)())
{
	engine = make;
}
} // namespace torch::autograd

namespace at
{
struct ObserverContext {
	virtual ~ObserverContext() = default;
};
struct RecordFunction;
enum class RecordScope : uint8_t { FUNCTION, BACKWARD_FUNCTION, USER_SCOPE = 7, NUM_SCOPES = 10 };

class RecordFunctionCallback
{
      public:
	std::unique_ptr<ObserverContext> (*start)(const RecordFunction &);
	void (*end)(const RecordFunction &, ObserverContext *);
	double probability = 1;
	std::array<bool, (size_t)RecordScope::NUM_SCOPES> scopes = {};
	bool inputs = false, outputs = false, ids = false;
};

static std::vector<RecordFunctionCallback> callbacks;
uint64_t addGlobalCallback(RecordFunctionCallback callback)
{
	callbacks.push_back(callback);
	return callbacks.size() - 1;
}
bool removeCallback(uint64_t handle)
{
	callbacks[handle].scopes = {};
	return true;
}

namespace sequence_number
{
static thread_local uint64_t number;
uint64_t peek()
{
	return number;
}
uint64_t take()
{
	return number++;
}
} // namespace sequence_number

struct StepCallbacks {
	RecordScope scope;
};

struct RecordFunction {
	explicit RecordFunction(StepCallbacks &&step);
	virtual ~RecordFunction();
	const char *name() const;
	void before(const char *name, int64_t number);
	static uint64_t currentThreadId();
	void made_by(uint64_t thread)
	{
		maker_ = thread;
	}

      private:
	uint64_t thread_ = currentThreadId();
	RecordScope scope_;
#ifdef WIDE
	uint64_t more_[9] = {};
#endif
	std::string name_;
	int64_t sequence_number_ = -1;
	uint64_t one_ = 1;
	std::vector<std::unique_ptr<ObserverContext>> contexts_;
#ifdef WIDE
	uint64_t between_[2] = {};
#endif
	uint64_t maker_ = 0;
	std::vector<RecordFunctionCallback> own_;
	uint64_t small_ = 1;
};

uint64_t RecordFunction::currentThreadId()
{
	static std::atomic<uint64_t> last;
	static thread_local uint64_t own;

	return own ? own : (own = ++last);
}

RecordFunction::RecordFunction(StepCallbacks &&step) : scope_(step.scope)
{
}

const char *RecordFunction::name() const
{
	return name_.c_str();
}

void RecordFunction::before(const char *name, int64_t number)
{
	name_ = name;
	sequence_number_ = number;
	for (const auto &callback : callbacks)
		if (callback.scopes[(size_t)scope_]) {
			own_.push_back(callback);
			contexts_.push_back(callback.start ? callback.start(*this) : nullptr);
		}
}

RecordFunction::~RecordFunction()
{
	for (size_t i = 0; i < own_.size(); i++)
		if (own_[i].end)
			own_[i].end(*this, contexts_[i].get());
}
} // namespace at

// What the test calls: guards on the caller's stack, as PyTorch's are.
extern "C" {
void *range_new(const char *name)
{
	auto *range = new at::RecordFunction(at::StepCallbacks{at::RecordScope::USER_SCOPE});
	range->before(name, -1);
	return range;
}
void range_delete(void *range)
{
	delete (at::RecordFunction *)range;
}
// An operator that makes `functions` backward functions and then does its work.
void operator_call(const char *name, int functions, void (*work)())
{
	at::RecordFunction guard(at::StepCallbacks{at::RecordScope::FUNCTION});
	guard.before(name, (int64_t)at::sequence_number::peek());
	while (functions-- > 0)
		at::sequence_number::take();
	work();
}
// One that autograd does not look at: it has no number.
void operator_below(const char *name, void (*work)())
{
	at::RecordFunction guard(at::StepCallbacks{at::RecordScope::FUNCTION});
	guard.before(name, -1);
	work();
}
void backward_call(const char *name, int64_t number, uint64_t maker, void (*work)())
{
	at::RecordFunction guard(at::StepCallbacks{at::RecordScope::BACKWARD_FUNCTION});
	guard.made_by(maker);
	guard.before(name, number);
	work();
}
int engine_is_set()
{
	return torch::autograd::engine != nullptr;
}
uint64_t next_number()
{
	return at::sequence_number::peek();
}
uint64_t thread_number()
{
	return at::RecordFunction::currentThreadId();
}
}
