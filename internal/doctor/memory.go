package doctor

import "fmt"

// eviction judges the policy at maxmemory. Every counter of Weir has a TTL, so
// the volatile policies evict them as readily as the others.
func (j *judge) eviction() {
	policy, ok := j.node.setting("maxmemory-policy")
	if !ok {
		j.blind(CheckEviction, "maxmemory-policy", info)
		return
	}
	if policy != "noeviction" {
		j.addf(CheckEviction, Fail, j.set("maxmemory-policy", "noeviction"),
			"maxmemory-policy is %s: counters vanish when memory is short, and their limits with them", policy)
		return
	}
	if n, _ := j.node.info("evicted_keys"); n > 0 {
		j.addf(CheckEviction, Warn, "nothing more; CONFIG RESETSTAT forgets the number",
			"maxmemory-policy is noeviction, and was not always: %d keys were evicted since the start", n)
		return
	}
	j.add(CheckEviction, OK, "maxmemory-policy is noeviction", "")
}

// Of the memory there is, how much may be in use, in percent. At the end of it
// a server that does not evict refuses every write.
const (
	memoryWarn = 80
	memoryFail = 95
)

func (j *judge) memory() {
	used, ok := j.node.info("used_memory")
	if !ok {
		j.blind(CheckMemory, "used_memory", info)
		return
	}
	limit, _ := j.node.number("maxmemory")
	what, do := "maxmemory", "raise maxmemory, or move other data elsewhere"
	if limit <= 0 {
		limit, _ = j.node.info("total_system_memory")
		what, do = "the machine, with no maxmemory", "CONFIG SET maxmemory to what Redis may have: the kernel kills who takes all"
	}
	if limit <= 0 {
		j.add(CheckMemory, OK, bytesText(used)+" in use, no maxmemory", "")
		return
	}
	percent := int64(float64(used) / float64(limit) * 100)
	seen := fmt.Sprintf("%s in use, %d%% of %s of %s", bytesText(used), percent, bytesText(limit), what)
	switch {
	case percent >= memoryFail:
		j.add(CheckMemory, Fail, seen+": writes are refused at the end of it", do)
	case percent >= memoryWarn:
		j.add(CheckMemory, Warn, seen, do)
	default:
		j.add(CheckMemory, OK, seen, "")
	}
}

// bytesText writes a number of bytes as people read it.
func bytesText(n int64) string {
	v, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for v >= 1024 && unit < len(units)-1 {
		v /= 1024
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[unit])
}
