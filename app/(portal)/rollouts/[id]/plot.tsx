'use client';

import { useFormat } from '#app/_ui/format.ts';
import { areaOf, lineOf, type PlotScale, rangeOf } from './plot-paths.ts';

export interface PlotProps {
  /** The accessible name. The table has the same numbers. */
  label: string;
  title: string;
  /** Milliseconds since 1970, ascending. */
  times: readonly number[];
  series: readonly { name: string; values: readonly number[]; isDashed?: boolean }[];
  /** Values at which the rollout halts, one for each time, drawn as a line. */
  limit: { name: string; values: readonly number[] } | null;
  /** Bounds of the true value, drawn as an area. */
  band?: { name: string; low: readonly number[]; high: readonly number[] };
  show(value: number): string;
}

const scale = { width: 320, height: 120 };
const colors = ['var(--series-1)', 'var(--series-2)'];

/** Step curves over time, with their limit. */
export function Plot({ label, title, times, series, limit, band, show }: PlotProps) {
  const format = useFormat();
  const drawn = [...series.map(({ values }) => values), limit?.values ?? [], band?.low ?? [], band?.high ?? []];
  const range = rangeOf(drawn);
  const axes: PlotScale = { ...scale, ...range, times };
  const zero = lineOf(
    axes,
    times.map(() => 0),
  );
  return (
    <figure className="flex min-w-0 flex-col">
      <figcaption className="mb-2 text-12">
        <span className="font-medium text-ink-2">{title}</span>
        <span className="mt-0.5 flex flex-wrap gap-x-3 text-ink-3">
          {series.map(({ name, isDashed }, index) => (
            <Key key={name} name={name} color={colors[index]} dash={isDashed ? '4 2' : undefined} />
          ))}
          {limit === null ? null : <Key name={limit.name} color="var(--failed-solid)" dash="1.5 2.5" />}
          {band === undefined ? null : <Key name={band.name} color="var(--series-1)" isArea />}
        </span>
      </figcaption>
      <div className="mt-auto grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
        <div aria-hidden className="flex flex-col justify-between text-end text-11 text-ink-3 tabular-nums">
          <span>{show(range.top)}</span>
          <span>{show(range.bottom)}</span>
        </div>
        <svg
          role="img"
          aria-label={label}
          viewBox={`0 0 ${scale.width} ${scale.height}`}
          preserveAspectRatio="none"
          className="h-32 w-full border-s border-b border-line"
        >
          {band === undefined ? null : (
            <path d={areaOf(axes, band.low, band.high)} fill="var(--series-1)" fillOpacity={0.14} />
          )}
          {range.bottom < 0 ? <path d={zero} stroke="var(--line-strong)" vectorEffect="non-scaling-stroke" /> : null}
          {limit === null ? null : (
            <path
              d={lineOf(axes, limit.values)}
              fill="none"
              stroke="var(--failed-solid)"
              strokeWidth={1.5}
              strokeDasharray="2 3"
              vectorEffect="non-scaling-stroke"
            />
          )}
          {series.map(({ name, values, isDashed }, index) => (
            <path
              key={name}
              d={lineOf(axes, values)}
              fill="none"
              stroke={colors[index]}
              strokeWidth={2}
              strokeDasharray={isDashed ? '4 3' : undefined}
              vectorEffect="non-scaling-stroke"
            />
          ))}
        </svg>
        <p className="col-start-2 mt-1 flex justify-between gap-x-3 text-11 text-ink-3 tabular-nums">
          <span>{format.dateTime(new Date(times[0] ?? 0), 'short')}</span>
          <span>{format.dateTime(new Date(times.at(-1) ?? 0), 'clock')}</span>
        </p>
      </div>
    </figure>
  );
}

interface KeyProps {
  name: string;
  color: string | undefined;
  dash?: string | undefined;
  isArea?: boolean;
}

function Key({ name, color, dash, isArea = false }: KeyProps) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <svg aria-hidden viewBox="0 0 16 8" className="h-2 w-4 shrink-0">
        {isArea ? (
          <rect width={16} height={8} fill={color} fillOpacity={0.2} />
        ) : (
          <path d="M0 4h16" stroke={color} strokeWidth={2} strokeDasharray={dash} />
        )}
      </svg>
      {name}
    </span>
  );
}
