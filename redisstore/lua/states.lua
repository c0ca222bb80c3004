-- states: what the keys of a batch hold, for requests that blocks do not take.
-- It stands in the script where that says "#include states".
--
-- The states, by key: units in use, instant, fraction, mark; for runs and
-- slots the older runs as they are stored, where the first live one starts,
-- and the newest run. U[k] is nil until the key is first touched, and T[k] the machine
-- that it was read for: what is another's is nothing to it, until it is written.
local U, A, F, M, T = {}, {}, {}, {}, {}
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
  U[k], A[k], F[k], M[k], T[k] = 0, 0, 0, m.mark, m.machine
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
    if n == 12 then
      LT[k], LN[k] = unpack_('>I7', v, 6), used
    elseif n > 15 and (n - 5) % 10 == 0 then
      B[k] = sub(v, 6, -11)
      LT[k], LN[k] = unpack_(RUN, v, n - 9)
    else
      return
    end
  else
    if (n - 5) % 26 ~= 0 then return end
    B[k] = sub(v, 6, -27)
    LT[k], LN[k], LO[k] = unpack_(SLOT, v, n - 25)
  end
  U[k], M[k] = used, mark
  if mark == m.mark then X[k] = expiry(k, m) end
end

-- reach makes the state that of the key as m has it.
local function reach(k, m)
  if not U[k] or T[k] ~= m.machine and not D[k] then load(k, m) end
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
  reach(k, m)
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
  if m.machine == RUNS and H[k] > #B[k] then return head .. pack('>I7', LT[k]) end
  if m.machine == RUNS then return head .. sub(B[k], H[k]) .. pack(RUN, LT[k], LN[k]) end
  return head .. sub(B[k], H[k]) .. pack(SLOT, LT[k], LN[k], LO[k])
end
