'use client';

import Link from 'next/link';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { relationHref, type ShownRelation } from '../service-data.ts';
import type { ServiceLayout } from './picture-layout.ts';

export interface RelationLinesProps {
  model: string;
  layout: ServiceLayout;
  relations: ReadonlyMap<number, ShownRelation>;
}

const inkOf = (isFailing: boolean): string => (isFailing ? 'text-failed-text' : 'text-ink-3');

/**
 * The relations as lines from the service that requires to the one that provides; dashed while they end or a unit is
 * behind.
 */
export function RelationLines({ model, layout, relations }: RelationLinesProps) {
  const { t } = useTranslation('services');
  const arrow = useId();
  return (
    <>
      <svg aria-hidden width={layout.width} height={layout.height} className="absolute inset-0 overflow-visible">
        <defs>
          {[false, true].map((isFailing) => (
            <marker
              key={String(isFailing)}
              id={`${arrow}${isFailing}`}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M1 1 7 4 1 7z" fill="currentColor" className={inkOf(isFailing)} />
            </marker>
          ))}
        </defs>
        {layout.relations.map(({ number, path }) => {
          const state = relations.get(number)?.state ?? 'settled';
          return (
            <path
              key={number}
              d={path}
              fill="none"
              stroke="currentColor"
              strokeWidth="1.5"
              strokeDasharray={state === 'settled' || state === 'failing' ? undefined : '5 4'}
              markerEnd={`url(#${arrow}${state === 'failing'})`}
              className={inkOf(state === 'failing')}
            />
          );
        })}
      </svg>
      {layout.relations.map(({ number, label, from, to }) => {
        const relation = relations.get(number);
        if (relation === undefined) return null;
        const { state, failing, behind } = relation;
        const isFailing = state === 'failing';
        return (
          <Link
            key={number}
            href={relationHref(model, number)}
            prefetch={false}
            tabIndex={-1}
            draggable={false}
            data-st={isFailing ? 'failed' : undefined}
            title={`${from} → ${to}`}
            style={{ left: label.x, top: label.y }}
            className={cn(
              'absolute inline-flex h-5 -translate-x-1/2 -translate-y-1/2 items-center gap-1 rounded-sm bg-surface px-1.5 text-11 whitespace-nowrap text-ink-2 shadow-hair hover:underline',
              isFailing && 'bg-st-tint text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]',
            )}
          >
            <span translate="no" className="mono-11">
              {relation.interface}
            </span>
            {isFailing || state === 'behind' ? (
              <>
                <StatusIcon status={isFailing ? 'failed' : 'progressing'} className="size-3" />
                {t(isFailing ? 'picture.failing' : 'picture.behind', { count: isFailing ? failing : behind })}
              </>
            ) : null}
          </Link>
        );
      })}
    </>
  );
}
