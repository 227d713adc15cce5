'use client';

import { scaleLinear, scaleTime } from 'd3-scale';
import { area, curveMonotoneX, stack } from 'd3-shape';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { type Layer, type StackedPoint, spread } from './adoption-layers.ts';
import { seriesFill } from './series.ts';

export interface AdoptionChartProps {
  layers: readonly Layer[];
  points: readonly StackedPoint[];
  /** Where the time shown begins, whether or not somebody had a version then. */
  from: Date;
}

// The picture is stretched to the width of its card; words and figures stand beside it as text.
const width = 1000;
const height = 220;
const labelGap = 18;
/** So wide is what began just now, to be seen at all. */
const sliver = 16;

/** Areas upon each other, each named at its end. The sentence that it tells is its accessible name. */
export function AdoptionChart({ layers, points, from }: AdoptionChartProps) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  const last = points.at(-1) as StackedPoint;
  const x = scaleTime([from, last.at], [0, width]);
  const start = x.invert(width - sliver);
  const first = points[0] as StackedPoint;
  const drawn = first.at > start ? [{ ...first, at: start }, ...points] : points;
  const highest = Math.max(1, ...drawn.map(({ vms }) => vms.reduce((sum, count) => sum + count, 0)));
  const y = scaleLinear([0, highest], [height, 0]).nice(4);
  const bands = stack<StackedPoint, number>()
    .keys(layers.map((_, index) => index))
    .value(({ vms }, index) => vms[index] ?? 0)([...drawn]);
  const shape = area<(typeof bands)[number][number]>()
    .x(({ data }) => x(data.at))
    .y0(([foot]) => y(foot))
    .y1(([, top]) => y(top))
    .curve(curveMonotoneX);
  const ends = bands.map((band) => band.at(-1) ?? [0, 0]);
  const middles = spread(
    ends.map(([foot, top]) => y(((foot ?? 0) + (top ?? 0)) / 2)),
    labelGap,
    height,
  );
  const present = layers.map((layer, index) => ({ ...layer, vms: last.vms[index] ?? 0 })).filter(({ vms }) => vms > 0);
  const nameOf = ({ version, count }: Layer) => version ?? t('adoption.others', { count });
  const list = present.toReversed().map((layer) => t('adoption.of', { version: nameOf(layer), count: layer.vms }));
  const ticks = y.ticks(4).filter((tick) => Number.isInteger(tick) && tick > 0);
  const times = [0, 0.25, 0.5, 0.75, 1].map((share) => x.invert(share * width));
  return (
    // Time runs left to right in every language.
    <div dir="ltr" className="grid grid-cols-[auto_minmax(0,1fr)_minmax(4.5rem,auto)] gap-x-2.5 text-11 text-ink-3">
      <div aria-hidden className="relative min-w-6 tabular-nums" style={{ height }}>
        {/* Gives the column the width of its longest figure. */}
        <span className="invisible">{format.number(Math.max(...ticks, 0))}</span>
        {ticks.map((tick) => (
          <span key={tick} className="absolute end-0 -translate-y-1/2" style={{ top: y(tick) }}>
            {format.number(tick)}
          </span>
        ))}
      </div>
      <svg
        role="img"
        aria-label={list.length === 0 ? t('adoption.now.none') : t('adoption.now', { list: format.list(list) })}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className="block w-full overflow-visible"
        style={{ height }}
      >
        {ticks.map((tick) => (
          <path
            key={tick}
            d={`M0 ${y(tick)}H${width}`}
            className="stroke-line-subtle"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        {bands.map((band, index) => (
          <path
            key={layers[index]?.version ?? ''}
            d={shape(band) ?? ''}
            fill={`var(--series-${layers[index]?.series || 5})`}
            className="stroke-surface"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        <path d={`M0 ${height}H${width}`} className="stroke-line" vectorEffect="non-scaling-stroke" />
      </svg>
      <div className="relative tabular-nums" style={{ height }}>
        {layers.map((layer, index) => {
          const count = last.vms[index] ?? 0;
          if (count === 0) return null;
          return (
            <span
              key={layer.version ?? ''}
              className="absolute start-0 inline-flex max-w-full -translate-y-1/2 items-center gap-1.5 whitespace-nowrap"
              style={{ top: middles[index] }}
            >
              <span aria-hidden className={`size-2 shrink-0 rounded-[2px] ${seriesFill[layer.series]}`} />
              <span className="truncate font-medium text-ink" title={nameOf(layer)}>
                {nameOf(layer)}
              </span>
              {format.number(count)}
            </span>
          );
        })}
        {/* Labels stand free of the flow: the longest gives the column its width. */}
        {layers.map((layer) => (
          <span key={layer.version ?? ''} aria-hidden className="invisible block h-0 ps-3.5 whitespace-nowrap">
            <span className="me-1.5 font-medium">{nameOf(layer)}</span>
            {format.number(highest)}
          </span>
        ))}
      </div>
      <div aria-hidden className="col-start-2 mt-1.5 flex justify-between whitespace-nowrap tabular-nums">
        {times.map((time, index) => (
          <span key={time.getTime()} className={index % 4 === 0 ? undefined : 'max-sm:hidden'}>
            {format.dateTime(time, 'day')}
          </span>
        ))}
      </div>
    </div>
  );
}
