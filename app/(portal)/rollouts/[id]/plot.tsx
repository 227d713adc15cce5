'use client';

import { useFormat } from '#app/_ui/format.ts';

export interface PlotProps {
  title: string;
  /** Milliseconds since 1970, rising. */
  times: readonly number[];
  series: readonly { name: string; values: readonly number[]; isDashed?: boolean }[];
  /** A value at which the rollout halts, drawn as a line. */
  limit: { value: number; label: string } | null;
  show(value: number): string;
}

const [width, height] = [320, 110];
const colors = ['var(--series-1)', 'var(--series-2)'];

/** A step curve over time. The sentence above it and the table behind it have the same numbers. */
export function Plot({ title, times, series, limit, show }: PlotProps) {
  const format = useFormat();
  const values = series.flatMap((one) => one.values);
  const top = Math.max(0, limit?.value ?? 0, ...values) * 1.15 || 1;
  const bottom = Math.min(0, ...values);
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  const x = (time: number) => ((time - from) / Math.max(1, to - from)) * width;
  const y = (value: number) => height - ((value - bottom) / (top - bottom)) * height;
  const path = (points: readonly number[]) =>
    points.map((value, index) => `${index === 0 ? 'M0 ' : `H${x(times[index] ?? to)}V`}${y(value)}`).join('');
  return (
    <figure className="min-w-0">
      <figcaption className="mb-1 flex flex-wrap items-baseline gap-x-3 text-12 text-ink-3">
        {title}
        {series.map(({ name, isDashed }, index) => (
          <span key={name} className="inline-flex items-center gap-1.5 text-ink-2">
            <svg aria-hidden viewBox="0 0 16 4" className="h-1 w-4">
              <path d="M0 2h16" stroke={colors[index]} strokeWidth={2} strokeDasharray={isDashed ? '4 2' : undefined} />
            </svg>
            {name}
          </span>
        ))}
      </figcaption>
      <div className="flex gap-2">
        <div aria-hidden className="flex flex-col justify-between text-end text-11 text-ink-3 tabular-nums">
          <span>{show(top)}</span>
          <span>{show(bottom)}</span>
        </div>
        <svg
          aria-hidden
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          className="h-28 min-w-0 flex-1 border-s border-b border-line"
        >
          {limit === null ? null : (
            <path
              d={`M0 ${y(limit.value)}H${width}`}
              stroke="var(--failed-solid)"
              strokeDasharray="2 3"
              vectorEffect="non-scaling-stroke"
            />
          )}
          {series.map(({ name, values: points, isDashed }, index) => (
            <path
              key={name}
              d={path(points)}
              fill="none"
              stroke={colors[index]}
              strokeWidth={2}
              strokeDasharray={isDashed ? '4 3' : undefined}
              vectorEffect="non-scaling-stroke"
            />
          ))}
        </svg>
      </div>
      <p className="mt-1 flex flex-wrap justify-between gap-x-3 text-11 text-ink-3 tabular-nums">
        <span>{format.dateTime(new Date(from), 'short')}</span>
        {limit === null ? null : <span className="text-failed-text">{limit.label}</span>}
        <span>{format.dateTime(new Date(to), 'clock')}</span>
      </p>
    </figure>
  );
}
