/** Latencies in one interval of a run. */
export interface LatencyPoint {
  /** Seconds since the start. */
  at: number;
  p50: number;
  p99: number;
}

const size = { width: 960, height: 360 };
const frame = { left: 64, right: 16, top: 40, bottom: 44 };

/** Returns an SVG image of latency over time: p50 and p99 of each interval on a logarithmic scale, and the target. */
export function latencyPicture(title: string, moments: readonly LatencyPoint[], limitMs: number): string {
  const values = moments.flatMap(({ p50, p99 }) => [p50, p99]).filter((value) => value > 0);
  const lowest = 10 ** Math.floor(Math.log10(Math.min(1, ...values)));
  const highest = 10 ** Math.ceil(Math.log10(Math.max(limitMs * 2, ...values)));
  const end = Math.max(1, moments.at(-1)?.at ?? 1);
  const x = (at: number): number => round(frame.left + (at / end) * (size.width - frame.left - frame.right));
  const y = (ms: number): number => {
    const share = Math.log10(Math.max(ms, lowest) / lowest) / Math.log10(highest / lowest);
    return round(size.height - frame.bottom - share * (size.height - frame.top - frame.bottom));
  };
  const line = (of: 'p50' | 'p99', color: string): string =>
    `<polyline fill="none" stroke="${color}" stroke-width="1.5" points="${moments
      .map((moment) => `${x(moment.at)},${y(moment[of])}`)
      .join(' ')}"/>`;
  const decades = Array.from({ length: Math.round(Math.log10(highest / lowest)) + 1 }, (_, n) => lowest * 10 ** n);
  const minutes = Array.from({ length: Math.floor(end / 60) + 1 }, (_, n) => n);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="${size.width}" height="${size.height}" fill="#ffffff"/>`,
    `<text x="${frame.left}" y="22" font-size="14" fill="#111827">${title}</text>`,
    ...decades.map(
      (ms) =>
        `<line x1="${frame.left}" x2="${size.width - frame.right}" y1="${y(ms)}" y2="${y(ms)}" stroke="#e5e7eb"/>` +
        `<text x="${frame.left - 8}" y="${y(ms) + 4}" text-anchor="end" fill="#374151">${Number(ms.toPrecision(1))} ms</text>`,
    ),
    ...minutes.map(
      (minute) =>
        `<text x="${x(minute * 60)}" y="${size.height - frame.bottom + 18}" text-anchor="middle" fill="#374151">${minute}</text>`,
    ),
    `<text x="${size.width / 2}" y="${size.height - 8}" text-anchor="middle" fill="#374151">minutes</text>`,
    `<line x1="${frame.left}" x2="${size.width - frame.right}" y1="${y(limitMs)}" y2="${y(limitMs)}" stroke="#b91c1c" stroke-dasharray="6 4"/>`,
    `<text x="${size.width - frame.right}" y="${y(limitMs) - 6}" text-anchor="end" fill="#b91c1c">limit of p99: ${limitMs} ms</text>`,
    line('p50', '#2563eb'),
    line('p99', '#c2410c'),
    `<text x="${size.width - frame.right - 80}" y="22" fill="#2563eb">p50</text>`,
    `<text x="${size.width - frame.right - 40}" y="22" fill="#c2410c">p99</text>`,
    '</svg>',
    '',
  ].join('\n');
}

const round = (value: number): number => Math.round(value * 10) / 10;
