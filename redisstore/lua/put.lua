-- put: take units and write the state, after look for the same key. It stands in
-- the script wherever that says "#include put".
--
-- Reads k, units, the meter, and all that look set, which it changes.
if units > usedcap - used then units = usedcap - used end
if units > 0 then
  local new, ends
  if machine == RUNS then
    if used == 0 then
      body, h, at, ln = '', 1, now, units
    elseif at >= now then
      ln = ln + units
    else
      local left, fill = units, runcap - ln
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
      new = pack('>I5I7I3', base + used + units, at, ln)
    else
      new = pack('>I5', base + used + units) .. sub(body, h) .. pack(RUN, at, ln)
    end
  else
    if used == 0 then at, frac, same = now, 0, false end
    used = used + units
    if machine == WINDOW then
      ends = at - at % window + window
    else
      local n = used
      if n > usedcap then n = usedcap end
      ends = at + n * whole
      if den > 1 then ends = ends + floor((n * rem + frac + den - 1) / den) end
    end
  end
  -- Most often the expiry stays, and often all but the units: to write over
  -- a value costs Redis a third of a new one.
  local cell = floor(ends / grid)
  if same and cell == stored then
    call('SETRANGE', K[k], '2', pack('>I3', used))
  else
    if not new then
      if frac > 0 then new = pack('>I5I7I3', base + used, at, frac) else new = pack('>I5I7', base + used, at) end
    end
    if cell ~= stored then
      -- As far behind the cell as now is in its own: Redis stands still for what
      -- expires at one instant.
      call('SET', K[k], new, 'PXAT', floor(((cell + 1) * grid + now % grid) / 1000))
    elseif #new == #v then
      call('SETRANGE', K[k], '0', new)
    else
      call('SET', K[k], new, 'KEEPTTL')
    end
  end
end
