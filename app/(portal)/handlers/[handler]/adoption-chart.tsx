'use client';

import { scaleLinear, scaleTime } from 'd3-scale';
import { area, curveMonotoneX, stack } from 'd3-shape';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { useFormat } from '#app/_ui/format.ts';
import { type Layer, type StackedPoint, spread } from './adoption-layers.ts';
import { RingMarkLinks } from './ring-mark-links.tsx';
import { ringMarks, type ShownOpening } from './ring-marks.ts';
import { seriesFill } from './series.ts';

export interface AdoptionChartProps {
  handler: string;
  layers: readonly Layer[];
  points: readonly StackedPoint[];
  /** Start of the time axis, even if no VM had a version at that time. */
  from: Date;
  /** When rings of rollouts opened. */
  openings: readonly ShownOpening[];
}

// The SVG is stretched to the card's width, so labels and numbers are HTML next to it.
const width = 1000;
const height = 220;
const labelGap = 18;
/** Minimum width, in SVG units, of an area that has just begun, so that it is visible. */
const sliver = 16;

/** A stacked area chart with each version's label at its right end. The accessible name lists the latest numbers. */
export function AdoptionChart({ handler, layers, points, from, openings }: AdoptionChartProps) {
  const format = useFormat();
  const chart = stackedAreas(layers, points, from);
  const times = [0, 0.25, 0.5, 0.75, 1].map((share) => chart.x.invert(share * width));
  const { at: to, vms: latest } = points.at(-1) as StackedPoint;
  return (
    // Time runs from left to right in every language.
    <div dir="ltr" className="grid grid-cols-[auto_minmax(0,1fr)_minmax(4.5rem,auto)] gap-x-2.5 text-11 text-ink-3">
      <Scale {...chart} />
      <div className="relative min-w-0">
        <Areas {...chart} layers={layers} latest={latest} />
        <RingMarkLinks handler={handler} marks={ringMarks(openings, { from, to })} />
      </div>
      <LayerLabels {...chart} handler={handler} layers={layers} latest={latest} />
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

/** Returns the scales and the shapes in SVG units. */
function stackedAreas(layers: readonly Layer[], points: readonly StackedPoint[], from: Date) {
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
  const ticks = y.ticks(4).filter((tick) => Number.isInteger(tick) && tick > 0);
  return { x, y, highest, ticks, middles, paths: bands.map((band) => shape(band) ?? '') };
}

type Chart = ReturnType<typeof stackedAreas>;

function useLayerName(): (layer: Layer) => string {
  const { t } = useTranslation('packages');
  return ({ version, count }) => version ?? t('adoption.others', { count });
}

function Scale({ ticks, y }: Pick<Chart, 'ticks' | 'y'>) {
  const format = useFormat();
  return (
    <div aria-hidden className="relative min-w-6 tabular-nums" style={{ height }}>
      {/* Invisible: gives the column the width of its longest number. */}
      <span className="invisible">{format.number(Math.max(...ticks, 0))}</span>
      {ticks.map((tick) => (
        <span key={tick} className="absolute end-0 -translate-y-1/2" style={{ top: y(tick) }}>
          {format.number(tick)}
        </span>
      ))}
    </div>
  );
}

interface LayersProps {
  layers: readonly Layer[];
  /** Number of VMs in each layer at the last point. */
  latest: readonly number[];
}

function Areas({ ticks, y, paths, layers, latest }: Pick<Chart, 'ticks' | 'y' | 'paths'> & LayersProps) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  const nameOf = useLayerName();
  const present = layers.map((layer, index) => ({ ...layer, vms: latest[index] ?? 0 })).filter(({ vms }) => vms > 0);
  const list = present.toReversed().map((layer) => t('adoption.of', { version: nameOf(layer), count: layer.vms }));
  return (
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
      {paths.map((path, index) => (
        <path
          key={layers[index]?.version ?? ''}
          d={path}
          fill={`var(--series-${layers[index]?.series || 5})`}
          className="stroke-surface"
          vectorEffect="non-scaling-stroke"
        />
      ))}
      <path d={`M0 ${height}H${width}`} className="stroke-line" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

interface LayerLabelsProps extends Pick<Chart, 'middles' | 'highest'>, LayersProps {
  handler: string;
}

/** The versions with their numbers of VMs, each with a link to these VMs. */
function LayerLabels({ handler, middles, highest, layers, latest }: LayerLabelsProps) {
  const format = useFormat();
  const nameOf = useLayerName();
  return (
    <div className="relative tabular-nums" style={{ height }}>
      {layers.map((layer, index) => {
        const count = latest[index] ?? 0;
        if (count === 0) return null;
        return (
          <Link
            key={layer.version ?? ''}
            href={vmsAddress({ handler, version: layer.versions.join(',') })}
            prefetch={false}
            data-count={count}
            className="absolute start-0 inline-flex max-w-full -translate-y-1/2 items-center gap-1.5 rounded-xs whitespace-nowrap hover:underline"
            style={{ top: middles[index] }}
          >
            <span aria-hidden className={`size-2 shrink-0 rounded-[2px] ${seriesFill[layer.series]}`} />
            <span className="truncate font-medium text-ink" title={nameOf(layer)}>
              {nameOf(layer)}
            </span>
            {format.number(count)}
          </Link>
        );
      })}
      {/* The labels are positioned absolutely, so these invisible copies give the column its width. */}
      {layers.map((layer) => (
        <span key={layer.version ?? ''} aria-hidden className="invisible block h-0 ps-3.5 whitespace-nowrap">
          <span className="me-1.5 font-medium">{nameOf(layer)}</span>
          {format.number(highest)}
        </span>
      ))}
    </div>
  );
}
