-- commit: decides a batch of requests, all or nothing each, on Redis's clock.
--
-- Before this text stands a prelude (see script.go) that defines
--   K      table of key names, from index 1: nstate state keys, then replay keys
--   blob   the packed batch
--   now    microseconds since the epoch, and elapsed(), those since
--   read   function(K, n) -> table of values: string, false, or 1 for a key
--          that this node does not hold
--
-- blob, big-endian (see wire.go):
--   timed u8, nstate u16, nreplay u16, nsections u16, nseveral u16, nmeters u16, ngroups u16
--   section: meter, kind u8, cost u24, n u16, then n of: count u16, request u16, key u16
--   meter:   shapes u8, machine u8, mark u16, capacity u24, whole u56, rem u24, den u24,
--            usedcap u24, window u56, runcap u24, maxruns u16, grid u56
--   group:   count u16, ncharges u8, flags u8, then the charges; with flag 16 the
--            twins of all charges; with flag 1 or 4 a replay key u16; with flag 2
--            an owner of 16
--   charge:  key u16, meter u16, mode u8, any-of group u8, cost u24
--   twin:    key u16 or 0, twinning u8
-- A group, and each of a section, is count identical requests. flags: 1 remember
-- and replay, 2 has an owner, 4 undo what was remembered, 8 remember for 10 s
-- instead of 10 minutes, 16 has twins, 32 is plain.
--
-- What is asked most is told apart by the caller, to be decided with little:
--   section  charges that count, of one limit and one cost, each on a key that no
--            other charge of the batch is on, and so in any order. Of kind 2 they are of
--            requests of several such charges, which are numbered from 1; else the
--            request is 0, and the charge all of it. Kind 1 counts always.
--   plain    requests of charges that all count and all must fit
--
-- Returns the values read, in the order of the keys, then now, how many
-- requests were admitted, and if timed the microseconds that it took. The caller
-- runs the same batch on the same values with algo.Settle, which this mirrors,
-- and so needs nothing else.
--
-- Everything is read before anything is written: a key that is elsewhere
-- fails its own requests only.

local floor, min, max = math.floor, math.min, math.max
local unpack_, pack, sub = struct.unpack, struct.pack, string.sub
local call = redis.call
local BUCKET, WINDOW, RUNS, SLOTS = 0, 1, 2, 3
local ENFORCE, SHADOW, ALWAYS, PEEK, REFUND, UPTO = 0, 1, 2, 3, 4, 5
local RUN, SLOT = '>I7I3', '>I7I3c16'

local timed, nstate, nreplay, nsections, nseveral, nmeters, ngroups, pos = unpack_('>BI2I2I2I2I2I2', blob, 1)
local V = read(K, nstate + nreplay)
local admitted = 0

-- Sections: what follows below, without its tables and functions, which cost
-- such a request more than to decide it.
local SECTION, CHARGE = '>BBI2I3I7I3I3I3I7I3I2I7BI3I2', '>I2I2I2'
local sections = pos
local N = nseveral > 0 and {}  -- by request of several: how many fit, or -1 for one of rest
local su, sa, ss, sx, sl, sf, sb, sh = N and {}, N and {}, N and {}, N and {}, N and {}, N and {}, N and {}, N and {}
local rest  -- what needs the tables and functions after all: { count, charges }
for _ = 1, nsections do
  local from = pos
  local _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges
  _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges, pos = unpack_(SECTION, blob, pos)
  local base = mark * 16777216 -- a state begins with the mark and the units: one number of 5 bytes
  for _ = 1, charges do
    local count, request, k
    count, request, k, pos = unpack_(CHARGE, blob, pos)
    local v = V[k]
    local ok, used, at, frac, same, stored, body, h, ln
    --#include look
    if request > 0 then
      local n = N[request] or count
      if not ok then
        n = -1
      elseif n > 0 then
        local room = capacity - used
        if room < cost then
          n = 0
        elseif n > 1 then
          n = min(n, floor(room / cost))
        end
      end
      N[request] = n
      su[k], sa[k], ss[k], sx[k] = used, at, stored, same
      if den > 1 then sf[k] = frac end
      if ln then
        sl[k] = ln
        if h <= #body then sb[k], sh[k] = body, h end
      end
    elseif ok then
      local n, room = 0, capacity - used
      if room >= cost then
        n = count
        if count > 1 then n = min(count, floor(room / cost)) end
      end
      admitted = admitted + n
      if kind == 1 then n = count end
      local units = n * cost
      --#include put
    elseif v ~= 1 then
      rest = rest or {}
      rest[#rest + 1] = { count = count, { from = from, mode = kind == 1 and ALWAYS or ENFORCE, k = k, cost = cost } }
    end
  end
end

-- Requests of several charges are written once all of them were looked at.
if N then
  local failed
  for i = 1, nseveral do
    if N[i] > 0 then admitted = admitted + N[i] end
  end
  local pos = sections
  for _ = 1, nsections do
    local from = pos
    local _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges
    _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges, pos = unpack_(SECTION, blob, pos)
    local base = mark * 16777216
    if kind < 2 then
      pos = pos + 6 * charges
      charges = 0
    end
    for _ = 1, charges do
      local count, request, k
      count, request, k, pos = unpack_(CHARGE, blob, pos)
      local n = N[request]
      if n < 0 then
        rest, failed = rest or {}, failed or {}
        local r = failed[request]
        if not r then
          r = { count = count }
          failed[request], rest[#rest + 1] = r, r
        end
        r[#r + 1] = { from = from, mode = kind == 3 and ALWAYS or ENFORCE, k = k, cost = cost }
      else
        if kind == 3 then n = count end
        local units = n * cost
        if units > 0 then
          local v, used, at, frac, same, stored = V[k], su[k], sa[k], 0, sx[k], ss[k]
          local body, h, ln = sb[k] or '', sh[k] or 1, sl[k]
          if den > 1 then frac = sf[k] end
          --#include put
        end
      end
    end
  end
end

-- answer ends the script.
local function answer()
  V[nstate + nreplay + 1] = now
  V[nstate + nreplay + 2] = admitted
  V[nstate + nreplay + 3] = timed == 1 and elapsed() or 0
  return V
end
if ngroups == 0 and not rest then return answer() end

local function meter(at)
  local m = { from = at }
  m.shapes, m.machine, m.mark, m.capacity, m.whole, m.rem, m.den, m.usedcap, m.window, m.runcap, m.maxruns, m.grid, at =
    unpack_('>BBI2I3I7I3I3I3I7I3I2I7', blob, at)
  m.to, m.floor = at - 1, m.machine * 16384
  return m, at
end

local meters = {}
for i = 1, nmeters do meters[i], pos = meter(pos) end

-- The states, by key: units in use, instant, fraction, mark; for runs and
-- slots the older runs as they are stored, where the first live one starts,
-- and the newest run. U[k] is nil until the key is first touched.
local U, A, F, M = {}, {}, {}, {}
local B, H, LT, LN, LO = {}, {}, {}, {}, {}
local X = {}  -- the expiry instant stored with the key, before its grid
local D = {}  -- the meter to write the key under, when it has changed

local function bucket_at(k, m, n)
  if n > m.usedcap then n = m.usedcap end
  return A[k] + n * m.whole + floor((n * m.rem + F[k] + m.den - 1) / m.den)
end

local function expiry(k, m)
  if m.machine == BUCKET then return bucket_at(k, m, U[k]) end
  if m.machine == WINDOW then return A[k] - A[k] % m.window + m.window end
  return LT[k] + m.window
end

-- load mirrors algo.ParseState: what is not a state of this machine is empty.
local function load(k, m)
  local v = V[k]
  U[k], A[k], F[k], M[k] = 0, 0, 0, m.mark
  B[k], H[k] = '', 1
  if not v then return end
  local n = #v
  if n < 12 then return end
  local mark, used = unpack_('>I2I3', v, 1)
  if mark < m.floor or mark >= m.floor + 16384 then return end
  if m.machine <= WINDOW then
    if n ~= 12 and not (n == 15 and m.machine == BUCKET) then return end
    A[k] = unpack_('>I7', v, 6)
    if n == 15 then F[k] = unpack_('>I3', v, 13) end
  elseif m.machine == RUNS then
    if (n - 5) % 10 ~= 0 then return end
    B[k] = sub(v, 6, -11)
    LT[k], LN[k] = unpack_(RUN, v, n - 9)
  else
    if (n - 5) % 26 ~= 0 then return end
    B[k] = sub(v, 6, -27)
    LT[k], LN[k], LO[k] = unpack_(SLOT, v, n - 25)
  end
  U[k], M[k] = used, mark
  if mark == m.mark then X[k] = expiry(k, m) end
end

local function clear(k)
  U[k], A[k], F[k], B[k], H[k] = 0, 0, 0, '', 1
end

local function drain(k, m)
  if F[k] >= m.den then A[k], F[k] = A[k] + 1, 0 end
  local e = now - A[k]
  if e <= 0 then return end
  local n
  if m.den == 1 then
    n = floor(e / m.whole)
    if n >= U[k] then return clear(k) end
    U[k], A[k] = U[k] - n, A[k] + n * m.whole
    return
  end
  local whole, rem, den, frac = m.whole, m.rem, m.den, F[k]
  n = floor((e - frac / den) / (whole + rem / den))
  if n > U[k] + 1 then return clear(k) end
  -- The float quotient is off by one at the most; whole numbers settle it.
  while n > 0 and n * whole + floor((n * rem + frac + den - 1) / den) > e do n = n - 1 end
  while (n + 1) * whole + floor(((n + 1) * rem + frac + den - 1) / den) <= e do n = n + 1 end
  if n >= U[k] then return clear(k) end
  local part = n * rem + frac
  local up = floor(part / den)
  U[k], A[k], F[k] = U[k] - n, A[k] + n * whole + up, part - up * den
end

local function drop_runs(k, m)
  local edge, body, h = now - m.window, B[k], H[k]
  local size = m.machine == RUNS and 10 or 26
  while h <= #body do
    local t, n = unpack_(RUN, body, h)
    if t > edge then break end
    U[k], h = U[k] - n, h + size
  end
  H[k] = h
  -- Below zero: a value that no script wrote. It must not harm its neighbours.
  if U[k] <= 0 or (h > #body and LT[k] <= edge) then clear(k) end
end

-- advance mirrors State.advance: take over another limit's state, then let go
-- what has been freed.
local function advance(k, m)
  if not U[k] then load(k, m) end
  if U[k] == 0 then M[k] = m.mark return end
  if M[k] ~= m.mark then
    if M[k] < m.floor or M[k] >= m.floor + 16384 then
      clear(k)
    else
      D[k] = m
    end
    if F[k] > 0 then A[k], F[k] = A[k] + 1, 0 end
    M[k] = m.mark
    if U[k] == 0 then return end
  end
  if m.machine == BUCKET then return drain(k, m) end
  if m.machine == WINDOW then
    if now >= expiry(k, m) then clear(k) end
    return
  end
  return drop_runs(k, m)
end

local function add_runs(k, m, n)
  if U[k] > 0 then
    if LT[k] >= now then LN[k] = LN[k] + n return end
    local fill = min(n, m.runcap - LN[k])
    if fill > 0 then LN[k], n = LN[k] + fill, n - fill end
    if n == 0 then return end
    B[k] = B[k] .. pack(RUN, LT[k], LN[k])
  end
  LT[k], LN[k] = now, n
  local h = H[k]
  if (#B[k] - h + 1) / 10 + 1 > m.maxruns then
    local _, n1, t2, n2 = unpack_('>I7I3I7I3', B[k], h)
    B[k], H[k] = pack(RUN, t2, n1 + n2) .. sub(B[k], h + 20), 1
  end
end

local function take(k, m, n)
  n = min(n, m.usedcap - U[k])
  if n <= 0 then return 0 end
  if m.machine == RUNS then
    add_runs(k, m, n)
  elseif U[k] == 0 then
    A[k], F[k] = now, 0
  end
  U[k], D[k] = U[k] + n, m
  return n
end

-- image is a key's state as it would be stored now.
local function image(k, m)
  if U[k] == 0 then return '' end
  if m.machine <= WINDOW then
    if F[k] > 0 then return pack('>I2I3I7I3', M[k], U[k], A[k], F[k]) end
    return pack('>I2I3I7', M[k], U[k], A[k])
  end
  local head = pack('>I2I3', M[k], U[k])
  if m.machine == RUNS then return head .. sub(B[k], H[k]) .. pack(RUN, LT[k], LN[k]) end
  return head .. sub(B[k], H[k]) .. pack(SLOT, LT[k], LN[k], LO[k])
end

-- What follows is made only when a batch needs it: a closure costs Redis a
-- tenth of a microsecond, and most batches are of charges that count.
local R = {}    -- replay keys written in this call: the record, or false once undone
local TTL = {}  -- and for how many milliseconds

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
    if not U[k] then load(k, c.m) end
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
  -- blob, granted u24, length u16, the state before it as it was stored.

  local function remember(key, cs, before, flags, n)
    local parts = { pack('>I7B', now, n) }
    for i = 1, #cs do
      local m = cs[i].m
      parts[i + 1] = sub(blob, m.from, m.to) .. pack('>I3I2', cs[i].granted, #before[i]) .. before[i]
    end
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

  local function undo(key, cs, owner)
    local rec = recall(key)
    if not rec then return end
    local p, size = 9, cs[1].m.to - cs[1].m.from + 1
    for i = 1, #cs do
      local c, granted, len = cs[i], nil, nil
      if p + size + 4 > #rec then break end -- cut short: it must not harm its neighbours
      granted, len, p = unpack_('>I3I2', rec, p + size)
      p = p + len
      advance(c.k, c.m)
      if granted > 0 then give(c.k, c.m, granted, owner) end
    end
    R[key] = false
  end

  local function decide(cs, count, flags, key, owner)
    if flags % 8 >= 4 then undo(key, cs, owner) return 0 end
    if not key then return settle(cs, count, owner) end
    local rec = recall(key)
    if rec then return (unpack_('B', rec, 8)) end
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
    if changed then remember(key, cs, before, flags, n) end
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
    if not U[k] then load(k, m) end
    if not U[t] then load(t, m) end
    local u, a, f, mark, b, h, lt, ln, lo, d = U[k], A[k], F[k], M[k], B[k], H[k], LT[k], LN[k], LO[k], D[k]
    local first, other = k, t
    if c.twinning == LAST then first, other = t, k end
    local from = counts(first, m) and first or counts(other, m) and other
    if not from then clear(k) elseif from == t then copy(k, t) end
    D[k] = nil
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

  return function(cs, count, flags, key, owner)
    local back = {}
    for i = 1, #cs do
      if cs[i].twin > 0 then back[i] = gather(cs[i]) end
    end
    local n = decide(cs, count, flags, key, owner)
    for i = 1, #cs do
      if back[i] then spread(cs[i], back[i]) end
    end
    return n
  end
end

local decide, decide_twins
if rest then
  decide = make_decide(false)
  for i = 1, #rest do
    local r, here = rest[i], true
    for j = 1, #r do
      r[j].m, r[j].group = meter(r[j].from), 0
      here = here and V[r[j].k] ~= 1
    end
    if here then admitted = admitted + decide(r, r.count, 0) end
  end
end

local ready = {}  -- by key: the meter it was advanced for by a plain request; now stands still
local ck, cm, ca, cc = {}, {}, {}, {}  -- of each charge of a request: key, meter, always, cost
for _ = 1, ngroups do
  local count, nc, flags
  count, nc, flags, pos = unpack_('>I2BB', blob, pos)
  if flags == 32 then
    local n, here = count, true
    for i = 1, nc do
      local k, mi, mode, cost, _
      k, mi, mode, _, cost, pos = unpack_('>I2I2BBI3', blob, pos)
      local m = meters[mi]
      ck[i], cm[i], ca[i], cc[i] = k, m, mode == ALWAYS, cost
      if V[k] == 1 then
        here = false
      elseif here then
        if ready[k] ~= m then
          advance(k, m)
          ready[k] = m
        end
        local room = m.capacity - U[k]
        if room < cost then
          n = 0
        elseif n > 1 then
          n = min(n, floor(room / cost))
        end
      end
    end
    if here then
      admitted = admitted + n
      for i = 1, nc do
        local units = cc[i] * (ca[i] and count or n)
        if units > 0 then take(ck[i], cm[i], units) end
      end
    end
  else
    local cs, here = {}, true
    for i = 1, nc do
      local c, mi = {}, nil
      c.k, mi, c.mode, c.group, c.cost, pos = unpack_('>I2I2BBI3', blob, pos)
      c.m = meters[mi]
      cs[i], ready[c.k] = c, nil
      here = here and V[c.k] ~= 1
    end
    if flags % 32 >= 16 then
      for i = 1, nc do
        local c = cs[i]
        c.twin, c.twinning, pos = unpack_('>I2B', blob, pos)
        ready[c.twin] = nil
        here = here and (c.twin == 0 or V[c.twin] ~= 1)
      end
    end
    local key, owner
    if flags % 2 == 1 or flags % 8 >= 4 then
      key, pos = unpack_('>I2', blob, pos)
      here = here and V[key] ~= 1
    end
    if flags % 4 >= 2 then owner, pos = unpack_('c16', blob, pos) end
    if here then
      if flags % 32 >= 16 then
        decide_twins = decide_twins or make_decide(true)
        admitted = admitted + decide_twins(cs, count, flags, key, owner)
      else
        decide = decide or make_decide(false)
        admitted = admitted + decide(cs, count, flags, key, owner)
      end
    end
  end
end

for k, m in pairs(D) do
  if U[k] == 0 then
    if V[k] then call('DEL', K[k]) end
  else
    local cell, v, new = floor(expiry(k, m) / m.grid), V[k], image(k, m)
    if X[k] and M[k] == unpack_('>I2', v, 1) and floor(X[k] / m.grid) == cell then
      if #new == #v then call('SETRANGE', K[k], '0', new) else call('SET', K[k], new, 'KEEPTTL') end
    else
      call('SET', K[k], new, 'PXAT', floor(((cell + 1) * m.grid + now % m.grid) / 1000)) -- as put does
    end
  end
end
for key, rec in pairs(R) do
  if rec then
    call('SET', K[key], rec, 'PX', TTL[key])
  elseif V[key] then
    call('DEL', K[key])
  end
end

return answer()
