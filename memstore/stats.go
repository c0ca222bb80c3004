package memstore

// Stats counts what a store holds and has let go of.
type Stats struct {
	Keys             int    // states held, the expired that nobody met yet included
	Evicted          uint64 // live states that gave way at the cap
	Expired          uint64 // expired states whose memory was reclaimed
	Replayed         uint64 // entries answered with an earlier answer
	Replays          int    // request ids held
	ReplaysForgotten uint64 // request ids that gave way before their time
}

// Len is the number of states held.
func (s *Store) Len() int { return int(s.keys.Load()) }

// Stats sums up the shards one by one: it is exact only when nothing else runs.
func (s *Store) Stats() Stats {
	t := Stats{Keys: s.Len()}
	for i := range s.shards {
		s.shards[i].addTo(&t)
	}
	return t
}

func (s *shard) addTo(t *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Evicted += s.counts.evicted
	t.Expired += s.counts.expired
	t.Replayed += s.counts.replayed
	t.ReplaysForgotten += s.counts.forgotten
	t.Replays += s.replay.index.n
}
