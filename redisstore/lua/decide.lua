-- decide: requests of every kind, on the states. It stands in the script where
-- that says "#include decide".
--
-- What follows is made only when a batch needs it: a closure costs Redis a
-- tenth of a microsecond, and most batches are of charges that count.
local R = {}    -- replay keys written in this call: the record, or false once undone
local TTL = {}  -- and for how many milliseconds, or nil for as long as before

local function make_decide(twins)
  -- held finds an owner's slot: its offset in B[k], 0 for the newest, or nil.
  local function held(k, owner)
    if U[k] == 0 then return nil end
    if LO[k] == owner then return 0 end
    local from = H[k] + 10
    while true do
      local at = string.find(B[k], owner, from, true)
      if not at then return nil end
      if (at - 11) % 26 == 0 then return at - 10 end
      from = at + 1
    end
  end

  -- cut_slot removes the slot at offset (as held tells) and returns its units.
  local function cut_slot(k, at)
    local n
    if at > 0 then
      local _
      _, n = unpack_(RUN, B[k], at)
      B[k] = sub(B[k], 1, at - 1) .. sub(B[k], at + 26)
      return n
    end
    n = LN[k]
    local h = #B[k] - 25
    if h >= H[k] then
      LT[k], LN[k], LO[k] = unpack_(SLOT, B[k], h)
      B[k] = sub(B[k], 1, h - 1)
    end
    return n
  end

  local function push_slot(k, n, owner, t)
    if U[k] > 0 then B[k] = B[k] .. pack(SLOT, LT[k], LN[k], LO[k]) end
    LT[k], LN[k], LO[k] = t, n, owner
  end

  local function acquire(k, m, n, owner)
    D[k] = m
    local t = now
    if U[k] > 0 then t = max(t, LT[k]) end
    local at = held(k, owner)
    if at then
      local had = cut_slot(k, at)
      U[k] = U[k] - had
      push_slot(k, had, owner, t)
      U[k] = U[k] + had
      return 0
    end
    push_slot(k, n, owner, t)
    U[k] = U[k] + n
    return n
  end

  local function pop_runs(k, n)
    while n > 0 do
      if LN[k] > n then LN[k] = LN[k] - n return end
      n = n - LN[k]
      local h = #B[k] - 9
      if h < H[k] then return end
      LT[k], LN[k] = unpack_(RUN, B[k], h)
      B[k] = sub(B[k], 1, h - 1)
    end
  end

  local function give(k, m, n, owner)
    if m.machine == SLOTS then
      local at = held(k, owner)
      if not at then return 0 end
      n = cut_slot(k, at)
    else
      n = min(n, U[k])
      if n <= 0 then return 0 end
      if m.machine == RUNS then pop_runs(k, n) end
    end
    U[k], D[k] = U[k] - n, m
    if U[k] == 0 then clear(k) end
    return n
  end

  -- fits is how many of count requests a charge has room for.
  local function fits(c, count, owner)
    local m, k, cost = c.m, c.k, c.cost
    if cost == 0 or c.mode == REFUND or c.mode == UPTO then return count end
    local room = m.capacity - U[k]
    if cost <= room then
      if c.mode == PEEK then return count end
      return min(count, floor(room / cost))
    end
    if m.machine == SLOTS and owner and held(k, owner) then return count end
    return 0
  end

  -- admit mirrors algo.Passes for count requests in a row: the first so many
  -- are admitted, because what they use only grows.
  local function admit(cs, count)
    local n, anyof = count, nil
    for i = 1, #cs do
      local c = cs[i]
      if c.group > 0 then
        anyof = anyof or {}
        anyof[c.group] = max(anyof[c.group] or 0, c.fit)
      elseif c.mode ~= SHADOW then
        n = min(n, c.fit)
      end
    end
    if anyof then
      for _, f in pairs(anyof) do n = min(n, f) end
    end
    return n
  end

  -- A charge that only looks at a state of another limit must not make it this
  -- limit's: keep returns what puts the state back, or nil.
  local function keep(c)
    local k = c.k
    if c.mode ~= PEEK and c.cost > 0 then return nil end
    reach(k, c.m)
    if U[k] == 0 or M[k] == c.m.mark then return nil end
    local u, a, f, m, b, h, lt, ln, lo, d = U[k], A[k], F[k], M[k], B[k], H[k], LT[k], LN[k], LO[k], D[k]
    return function()
      U[k], A[k], F[k], M[k], B[k], H[k], LT[k], LN[k], LO[k], D[k] = u, a, f, m, b, h, lt, ln, lo, d
    end
  end

  local function settle(cs, count, owner)
    local restore
    for i = 1, #cs do
      local back = keep(cs[i])
      if back then
        restore = restore or {}
        restore[#restore + 1] = back
      end
      advance(cs[i].k, cs[i].m)
      cs[i].fit = fits(cs[i], count, owner)
    end
    local n = admit(cs, count)
    local grant
    if cs[1].mode == UPTO then
      local want, room = cs[1].cost, nil
      for i = 1, #cs do
        want = min(want, cs[i].cost)
        local r = max(0, cs[i].m.capacity - U[cs[i].k])
        room = room and min(room, r) or r
      end
      grant = min(want * count, room)
    end
    for i = 1, #cs do
      local c = cs[i]
      local units
      if c.mode == ENFORCE or c.mode == SHADOW then units = c.cost * min(n, c.fit)
      elseif c.mode == ALWAYS then units = c.cost * count
      elseif c.mode == UPTO then units = grant
      end
      c.granted = 0
      if c.mode == REFUND then
        if c.cost > 0 then c.granted = give(c.k, c.m, c.cost * count, owner) end
      elseif units and units > 0 then
        if c.m.machine == SLOTS then
          c.granted = acquire(c.k, c.m, c.cost, owner)
        else
          c.granted = take(c.k, c.m, units)
        end
      end
    end
    for i = 1, restore and #restore or 0 do restore[i]() end
    return n
  end

  -- A remembered request: now u56, admitted u8, then per charge the meter as in
  -- blob, granted u24, length u16, the state before it as it was stored. Of a part of
  -- an entry the attempt follows that made it, which alone may undo it; none may once
  -- another attempt was answered by it.
  local NOBODY = string.rep('\0', 8)

  -- made_by returns whose attempt a record is of, and where that stands; nil if it
  -- does not say.
  local function made_by(rec, cs)
    local p, size, len = 9, cs[1].m.to - cs[1].m.from + 1, nil
    for _ = 1, #cs do
      if p + size + 4 > #rec then return nil end
      _, len, p = unpack_('>I3I2', rec, p + size)
      p = p + len
    end
    if #rec == p + 7 then return sub(rec, p), p end
  end

  local function remember(key, cs, before, flags, n, attempt)
    local parts = { pack('>I7B', now, n) }
    for i = 1, #cs do
      local m = cs[i].m
      parts[i + 1] = sub(blob, m.from, m.to) .. pack('>I3I2', cs[i].granted, #before[i]) .. before[i]
    end
    parts[#cs + 2] = attempt
    R[key] = table.concat(parts)
    TTL[key] = flags % 16 >= 8 and 10000 or 600000
  end

  -- recall returns what was remembered under key, if it was not too long ago.
  local function recall(key)
    if R[key] ~= nil then return R[key] end
    local rec = V[key]
    if not rec or #rec < 8 then return false end
    if now >= unpack_('>I7', rec) + 600000000 then return false end
    return rec
  end

  local function undo(key, cs, owner, attempt)
    local rec = recall(key)
    if not rec or attempt and made_by(rec, cs) ~= attempt then return end
    local p, size = 9, cs[1].m.to - cs[1].m.from + 1
    for i = 1, #cs do
      local c, granted, len = cs[i], nil, nil
      if p + size + 4 > #rec then break end -- cut short: it must not harm its neighbours
      granted, len, p = unpack_('>I3I2', rec, p + size)
      p = p + len
      -- A refund, of nothing too: that is a look.
      c.mode, c.cost = REFUND, granted
      local back = keep(c)
      advance(c.k, c.m)
      if granted > 0 then give(c.k, c.m, granted, owner) end
      if back then back() end
    end
    R[key] = false
  end

  local function decide(cs, count, flags, key, owner, attempt)
    if flags % 8 >= 4 then undo(key, cs, owner, attempt) return 0 end
    if not key then return settle(cs, count, owner) end
    local rec = recall(key)
    if rec then
      if attempt then
        local by, at = made_by(rec, cs)
        if by and by ~= NOBODY then R[key] = sub(rec, 1, at - 1) .. NOBODY end
      end
      return (unpack_('B', rec, 8))
    end
    local before = {}
    for i = 1, #cs do
      local back = keep(cs[i])
      advance(cs[i].k, cs[i].m)
      before[i] = image(cs[i].k, cs[i].m)
      if back then back() end
    end
    local n = settle(cs, count, owner)
    -- Mirrors algo.Remembered.
    local changed = n > 0
    for i = 1, #cs do changed = changed or cs[i].granted > 0 end
    if changed then remember(key, cs, before, flags, n, attempt) end
    return n
  end
  if not twins then return decide end

  -- A counter with two names (weir.Twinning): the state that is found under one
  -- of them is put where the charge's key has its own, the charge is decided as
  -- always, and what it changed is kept under the names that are to have it.
  -- Mirrors flight.gather and flight.spread.
  local LAST = 2

  local function copy(to, from)
    U[to], A[to], F[to], M[to] = U[from], A[from], F[from], M[from]
    B[to], H[to], LT[to], LN[to], LO[to] = B[from], H[from], LT[from], LN[from], LO[from]
  end

  -- counts mirrors State.Counts.
  local function counts(k, m)
    if U[k] == 0 or M[k] < m.floor or M[k] >= m.floor + 16384 then return false end
    local a, f = A[k], F[k]
    if f > 0 and M[k] ~= m.mark then A[k], F[k] = a + 1, 0 end
    local at = expiry(k, m)
    A[k], F[k] = a, f
    return at > now
  end

  -- gather returns what puts the key's own state back.
  local function gather(c)
    local k, t, m = c.k, c.twin, c.m
    reach(k, m)
    reach(t, m)
    local u, a, f, mark, b, h, lt, ln, lo, d = U[k], A[k], F[k], M[k], B[k], H[k], LT[k], LN[k], LO[k], D[k]
    local first, other = k, t
    if c.twinning == LAST then first, other = t, k end
    local from = counts(first, m) and first or counts(other, m) and other
    if not from then clear(k) elseif from == t then copy(k, t) end
    D[k], T[k] = nil, m.machine
    return function()
      U[k], A[k], F[k], M[k], B[k], H[k], LT[k], LN[k], LO[k], D[k] = u, a, f, mark, b, h, lt, ln, lo, d
    end
  end

  local function spread(c, back)
    local k, t = c.k, c.twin
    if not D[k] then return back() end
    if c.twinning == LAST then copy(t, k) else clear(t) end
    D[t] = D[k]
  end

  return function(cs, count, flags, key, owner, attempt)
    local back = {}
    for i = 1, #cs do
      if cs[i].twin > 0 then back[i] = gather(cs[i]) end
    end
    local n = decide(cs, count, flags, key, owner, attempt)
    for i = 1, #cs do
      if back[i] then spread(cs[i], back[i]) end
    end
    return n
  end
end
