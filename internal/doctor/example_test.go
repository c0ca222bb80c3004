package doctor_test

import (
	"fmt"
	"time"

	"github.com/weirlimit/weir/internal/doctor"
)

// A managed Redis: CONFIG is forbidden, INFO is not.
func ExampleJudge() {
	facts := doctor.Facts{
		Deadline: 10 * time.Millisecond,
		Nodes: []doctor.Node{{
			Addr: "10.0.0.1:6379", Version: "7.0.15", Kind: "standalone", Role: "master",
			Info: map[string]string{"maxmemory_policy": "volatile-lru"},
		}},
	}
	for _, f := range doctor.Judge(&facts) {
		if f.Status == doctor.Fail {
			fmt.Printf("%s: %s\n-> %s\n", f.Check, f.Seen, f.Do)
		}
	}
	// Output:
	// eviction: maxmemory-policy is volatile-lru: counters vanish when memory is short, and their limits with them
	// -> set maxmemory-policy noeviction in redis.conf or in the service's parameters
}
