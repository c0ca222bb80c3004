-- put: take units and make the state to be stored, after look for the same key. It
-- stands in the script where that says "#include put".
--
-- Reads take, the meter, and all that look set, which it changes. Sets new, and px
-- if the expiry is another.
local ends
if machine == RUNS then
  if used == 0 then
    body, h, at, ln = '', 1, now, take
  elseif at >= now then
    ln = ln + take
  else
    local left, fill = take, runcap - ln
    if fill > left then fill = left end
    if fill > 0 then ln, left = ln + fill, left - fill end
    if left > 0 then
      body = body .. pack(RUN, at, ln)
      at, ln = now, left
      if (#body - h + 1) / 10 + 1 > maxruns then
        local _, n1, t2, n2 = unpack_('>I7I3I7I3', body, h)
        body, h = pack(RUN, t2, n1 + n2) .. sub(body, h + 20), 1
      end
    end
  end
  ends = at + window
  if h > #body then
    new = pack('>I5I7', base + used + take, at)
  else
    new = pack('>I5', base + used + take) .. sub(body, h) .. pack(RUN, at, ln)
  end
else
  if used == 0 then at, frac, same = now, 0, false end
  used = used + take
  if machine == WINDOW then
    ends = at - at % window + window
  else
    local n = used
    if n > usedcap then n = usedcap end
    ends = at + n * whole
    if den > 1 then
      n = n * rem + frac + den - 1
      ends = ends + (n - n % den) / den
    end
  end
end
local cell = ends - ends % grid
if not new then
  if same and cell == stored then
    new = pack('>I3', used)
  elseif frac > 0 then
    new = pack('>I5I7I3', base + used, at, frac)
  else
    new = pack('>I5I7', base + used, at)
  end
end
if cell ~= stored then
  -- As far behind the cell as now is in its own: Redis stands still for what
  -- expires at one instant.
  px = floor((cell + grid + now % grid) / 1000)
end
