package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/weirlimit/weir"
)

// What two keys of one slot hold while no time passes: units in use. The rules
// are written out here once more, from weir.Mode's table and not from package
// algo.
type twoKeys [2]int64

const linearCapacity = 6

type linearInput struct {
	mode   weir.Mode
	cost   [2]int64 // by key; a key with 0 is not charged
	isRead bool     // Read of key 0 instead
	isDrop bool     // Reset of key 0 instead
}

type linearOutput struct {
	admitted     bool
	was, granted [2]int64
}

// next is what one operation does and answers.
func (used twoKeys) next(in linearInput) (twoKeys, linearOutput) {
	var out linearOutput
	switch {
	case in.isDrop:
		used[0] = 0
		return used, out
	case in.isRead:
		out.was[0] = used[0]
		return used, out
	}
	fits := true
	for k, cost := range in.cost {
		if cost > 0 {
			out.was[k] = used[k]
			fits = fits && used[k]+cost <= linearCapacity
		}
	}
	out.admitted = fits || in.mode == weir.Refund
	for k, cost := range in.cost {
		switch {
		case cost == 0 || in.mode == weir.Peek:
		case in.mode == weir.Refund:
			out.granted[k] = -min(cost, used[k])
		case fits || in.mode == weir.Always:
			out.granted[k] = cost
		}
		used[k] += out.granted[k]
	}
	return used, out
}

var linearModel = porcupine.Model{
	Init: func() any { return twoKeys{} },
	Step: func(state, in, out any) (bool, any) {
		next, want := state.(twoKeys).next(in.(linearInput))
		return want == out.(linearOutput), next
	},
}

// checkLinearizable runs small concurrent histories and looks for an order of
// their operations, within what each caller saw, that explains every answer.
func checkLinearizable(p *probe) {
	const clients, opsEach = 4, 6
	meters := []*weir.Meter{
		meter("6/365d burst 6"), meter("6/365d"), meter("6/365d sliding_log"), meter("6/365d burst 6 leaky_bucket"),
	}
	for n := range 24 * p.effort() {
		seed := max(1, p.Seed) + uint64(n)
		m := meters[n%len(meters)]
		keys := [2]string{p.key(fmt.Sprintf("x%d", n)), p.key(fmt.Sprintf("y%d", n))}
		var clock atomic.Int64
		history := make([][]porcupine.Operation, clients)
		p.parallel(clients, func(client int) error {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			for range opsEach {
				in := randomLinear(rng)
				call := clock.Add(1)
				out, err := p.linear(in, keys, m)
				if err != nil {
					return err
				}
				history[client] = append(history[client], porcupine.Operation{
					ClientId: client, Input: in, Call: call, Output: out, Return: clock.Add(1),
				})
			}
			return nil
		})
		ops := slices.Concat(history...)
		switch porcupine.CheckOperationsTimeout(linearModel, ops, patience) {
		case porcupine.Illegal:
			p.Fatalf("seed %d, %s: no order explains the answers:%s", seed, m.Limit, linearText(ops))
		case porcupine.Unknown:
			p.Fatalf("seed %d: the history could not be checked in %v", seed, patience)
		}
	}
}

func randomLinear(rng *rand.Rand) linearInput {
	in := linearInput{cost: [2]int64{1 + rng.Int64N(3), 0}}
	switch n := rng.IntN(20); {
	case n == 0:
		return linearInput{isDrop: true}
	case n < 4:
		return linearInput{isRead: true}
	case n < 7:
		in.mode = weir.Refund
	case n < 9:
		in.mode = weir.Peek
	case n < 10:
		in.mode = weir.Always
	}
	if rng.IntN(3) == 0 {
		in.cost[1] = 1 + rng.Int64N(2)
	}
	return in
}

// linear does one operation on the store.
func (p *probe) linear(in linearInput, keys [2]string, m *weir.Meter) (linearOutput, error) {
	var out linearOutput
	switch {
	case in.isDrop:
		return out, p.patient().reset(keys[0])
	case in.isRead:
		o, err := p.patient().read(keys[0], m)
		out.was[0] = o.Before.Used
		return out, err
	}
	var charges []weir.Charge
	for k, cost := range in.cost {
		if cost > 0 {
			charges = append(charges, weir.Charge{Key: keys[k], Meter: m, Cost: cost, Mode: in.mode})
		}
	}
	e := p.ask(weir.Entry{Charges: charges})[0]
	if e.Err != nil {
		return out, e.Err
	}
	out.admitted = e.Admitted
	for i, o := range e.Outcomes { // charge i is of key i: key 0 is always charged
		out.was[i], out.granted[i] = o.Before.Used, o.Granted
		if in.mode == weir.Refund {
			out.granted[i] = -o.Granted
		}
	}
	return out, nil
}

func linearText(ops []porcupine.Operation) string {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var lines []string
	for _, op := range ops {
		lines = append(lines, fmt.Sprintf("%3d-%3d client %d %+v -> %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output))
	}
	return indented(lines)
}
