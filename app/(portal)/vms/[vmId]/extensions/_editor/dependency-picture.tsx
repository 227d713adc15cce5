'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { type ReactNode, useId, useMemo } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { cn } from '#app/_ui/cn.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { cycleThrough, type Dependent, runOrder } from '#protocol/dependencies.ts';
import { ageMs, editHref } from '../../vm-data.ts';
import { nodeHeight, nodeWidth, pictureOf } from './dependency-layout.ts';

export interface DependencyPictureProps {
  vmId: string;
  name: string;
  all: readonly Dependent[];
  asList: boolean;
}

/**
 * The extensions in the order in which they run, as a graph or a list. Each extension links to its editor, except the
 * edited extension.
 */
export function DependencyPicture({ vmId, name, all, asList }: DependencyPictureProps) {
  const { t } = useTranslation('editor');
  const order = useMemo(
    () => runOrder(all.toSorted((a, b) => (a.name < b.name ? -1 : 1))).map((one) => one.name),
    [all],
  );
  const waitsFor = new Map(all.map((one) => [one.name, one.dependsOn]));
  const cycle = (waitsFor.get(name) ?? []).map((other) => cycleThrough(all, name, other)).find(Boolean);
  const describe = (other: string) => {
    const names = waitsFor.get(other) ?? [];
    return names.length === 0 ? t('order.free') : t('order.waits', { names: names.join(', ') });
  };
  const Drawing = asList ? DependencyList : DependencyGraph;
  return (
    <div className="px-4 pb-4">
      <Drawing vmId={vmId} name={name} all={all} order={order} describe={describe} />
      <div aria-live="polite">
        {cycle ? (
          <div className="mt-2">
            <FieldError>{t('order.circle', { path: cycle.join(' → ') })}</FieldError>
          </div>
        ) : null}
      </div>
    </div>
  );
}

interface DrawingProps extends Omit<DependencyPictureProps, 'asList'> {
  order: readonly string[];
  /** Returns a sentence about an extension's dependencies. */
  describe(name: string): string;
}

function DependencyList({ vmId, name, order, describe }: DrawingProps) {
  return (
    <ol className="grid">
      {order.map((other) => (
        <li
          key={other}
          className="grid min-h-(--row) items-baseline gap-x-3 border-t border-line-subtle py-1.5 first:border-t-0 sm:grid-cols-[minmax(0,180px)_minmax(0,1fr)]"
        >
          <Place vmId={vmId} name={other} isThis={other === name} className="grid rounded-sm">
            <ExtensionState vmId={vmId} name={other} isThis={other === name} />
          </Place>
          <span className="min-w-0 wrap-anywhere text-ink-2">{describe(other)}</span>
        </li>
      ))}
    </ol>
  );
}

/** A layered graph, with the extensions that run first at the top. */
function DependencyGraph({ vmId, name, all, order, describe }: DrawingProps) {
  const { t } = useTranslation('editor');
  const picture = useMemo(() => pictureOf(all), [all]);
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t('order.title')}
      className="max-h-96 overflow-auto rounded-md"
    >
      <div className="relative mx-auto" style={{ width: picture.width, height: picture.height }}>
        <Arrows picture={picture} />
        <ol>
          {order.map((other) => {
            const at = picture.nodes.get(other);
            return (
              <li
                key={other}
                className="absolute"
                style={{ left: at?.x, top: at?.y, width: nodeWidth, height: nodeHeight }}
              >
                <Place
                  vmId={vmId}
                  name={other}
                  isThis={other === name}
                  className={cn(
                    'grid h-full content-center rounded-md bg-surface px-2.5 shadow-control [--cut:var(--surface)]',
                    other === name && 'bg-brand-tint shadow-[inset_0_0_0_1.5px_var(--brand-text)]',
                  )}
                >
                  <ExtensionState vmId={vmId} name={other} isThis={other === name} />
                  <span className="sr-only">{describe(other)}</span>
                </Place>
              </li>
            );
          })}
        </ol>
      </div>
    </section>
  );
}

function Arrows({ picture }: { picture: ReturnType<typeof pictureOf> }) {
  const arrow = useId();
  return (
    <svg aria-hidden width={picture.width} height={picture.height} className="absolute inset-0">
      <defs>
        <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M1 1 7 4 1 7z" fill="context-stroke" />
        </marker>
      </defs>
      {picture.edges.map((edge) => (
        <path
          key={`${edge.from} ${edge.to}`}
          d={edge.path}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          strokeDasharray={edge.inCycle ? '4 3' : undefined}
          markerEnd={`url(#${arrow})`}
          className={edge.inCycle ? 'text-failed-text' : 'text-ink-3'}
        />
      ))}
    </svg>
  );
}

function ExtensionState({ vmId, name, isThis }: { vmId: string; name: string; isThis: boolean }) {
  const { t } = useTranslation(['editor', 'reports']);
  const trpc = useTRPC();
  const view = useQuery({ ...trpc.instanceViews.get.queryOptions({ vmId }), refetchInterval: ageMs });
  const extension = view.data?.extensions.find((one) => one.name === name);
  const state = extension && (extension.waiting ? 'waiting' : extension.health);
  const unknown = view.data ? t('order.notYet') : view.isPending ? '…' : t('reports:health.unknown');
  return (
    <>
      <span className="flex min-w-0 items-center gap-1.5">
        <StatusIcon
          status={state === undefined || state === 'waiting' ? 'waiting' : statusOfHealth[state]}
          className="shrink-0"
        />
        <span className="truncate font-medium" title={name}>
          {name}
        </span>
      </span>
      <span className="truncate text-12 text-ink-3">
        {state ? t(`reports:health.${state}`) : unknown}
        {isThis && state ? ` · ${t('order.this')}` : null}
      </span>
    </>
  );
}

interface PlaceProps {
  vmId: string;
  name: string;
  isThis: boolean;
  className: string;
  children: ReactNode;
}

function Place({ vmId, name, isThis, className, children }: PlaceProps) {
  if (isThis) {
    return (
      <div aria-current="true" className={className}>
        {children}
      </div>
    );
  }
  return (
    <Link href={editHref(vmId, name)} prefetch={false} className={cn(className, 'hover:bg-hover')}>
      {children}
    </Link>
  );
}
