'use client';

import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { cn } from '#app/_ui/cn.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SearchInput } from '#app/_ui/input.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { cellOf, differs, filterNodes, type NodeFilter } from '../moments.ts';
import type { Moment, ShownNode } from '../relation-data.ts';
import type { OpenedCell } from './opened-cell.ts';
import { SeenBy } from './seen-by.tsx';
import type { Revealed } from './use-revealed.ts';
import { ValueText } from './value-text.tsx';

export interface NodeListProps {
  moment: Moment;
  compared: Moment | null;
  changed: ReadonlySet<string>;
  revealed: Revealed;
  cell: OpenedCell | null;
  isPast: boolean;
  onCell(cell: OpenedCell): void;
  onSeen: ((unit: string) => void) | null;
}

const within = ['all', '10', '60', '1440'] as const;
const empty: NodeFilter = { search: '', withinMinutes: null, behind: false };

/** The settings of many units as a list with filters. Only visible rows are in the document. */
export function NodeList(props: NodeListProps) {
  const { moment, isPast } = props;
  const { t } = useTranslation('services');
  const [filter, setFilter] = useState(empty);
  const [opened, setOpened] = useState<string | null>(null);
  const frame = useRef<HTMLElement>(null);
  const nodes = useMemo(() => filterNodes(moment.nodes, filter, Date.now()), [moment.nodes, filter]);
  const virtual = useVirtualizer({
    count: nodes.length,
    getScrollElement: () => frame.current,
    getItemKey: (index) => nodes[index]?.unit ?? index,
    estimateSize: () => 44,
    overscan: 8,
    useFlushSync: false,
  });
  return (
    <>
      <Filters filter={filter} onFilter={setFilter} isPast={isPast} count={nodes.length} all={moment.nodes.length} />
      {nodes.length === 0 ? (
        <EmptyState
          as="h3"
          title={t('relation.filter.none')}
          actions={<Button onClick={() => setFilter(empty)}>{t('model.noMatch.clear')}</Button>}
        />
      ) : (
        <section
          ref={frame}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
          tabIndex={0}
          aria-label={t('relation.data.title')}
          className="max-h-[40rem] overflow-y-auto border-t border-line-subtle"
        >
          <div className="relative" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const node = nodes[item.index];
              if (node === undefined) return null;
              return (
                <div
                  key={item.key}
                  ref={virtual.measureElement}
                  data-index={item.index}
                  className="absolute inset-x-0 top-0 border-b border-line-subtle"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <NodeRow
                    {...props}
                    node={node}
                    isOpen={opened === node.unit}
                    onToggle={() => setOpened(opened === node.unit ? null : node.unit)}
                  />
                </div>
              );
            })}
          </div>
        </section>
      )}
    </>
  );
}

interface FiltersProps {
  filter: NodeFilter;
  isPast: boolean;
  /** How many units are shown, of how many. */
  count: number;
  all: number;
  onFilter(filter: NodeFilter): void;
}

/** The filters of the list, and how many units they select. */
function Filters({ filter, isPast, count, all, onFilter }: FiltersProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pb-3">
      <SearchInput
        className="w-64 max-sm:w-full"
        label={t('relation.filter.search')}
        value={filter.search}
        maxLength={200}
        onChange={(event) => onFilter({ ...filter, search: event.target.value })}
      />
      <Segmented
        label={t('relation.filter.within')}
        value={String(filter.withinMinutes ?? 'all')}
        options={within.map((value) => ({ value: value as string, label: t(`relation.filter.within.${value}`) }))}
        onChange={(value) => onFilter({ ...filter, withinMinutes: value === 'all' ? null : Number(value) })}
      />
      {isPast ? null : (
        // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is a button, which a label names too
        <label className="inline-flex items-center gap-2">
          <Checkbox
            checked={filter.behind}
            onCheckedChange={(checked) => onFilter({ ...filter, behind: checked === true })}
          />
          {t('relation.filter.behind')}
        </label>
      )}
      <span role="status" className="ms-auto text-12 text-ink-2 tabular-nums">
        {t('relation.filter.count', { n: format.number(count), all: format.number(all) })}
      </span>
    </div>
  );
}

interface NodeRowProps extends NodeListProps {
  node: ShownNode;
  isOpen: boolean;
  onToggle(): void;
}

function NodeRow({ node, moment, isOpen, onSeen, onToggle, ...props }: NodeRowProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  return (
    <>
      <div className="grid min-h-11 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 sm:grid-cols-[minmax(0,1fr)_10rem_9rem]">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={onToggle}
          className="min-w-0 self-stretch rounded-sm py-1.5 text-start hover:underline focus-visible:shadow-focus"
        >
          <span translate="no" className="font-medium">
            {node.unit}
          </span>{' '}
          <span className="text-12 text-ink-3">{t('relation.list.keys', { count: node.values.size })}</span>
          {isOpen ? null : <Preview node={node} />}
        </button>
        <span className="text-12 text-ink-2 tabular-nums max-sm:hidden">
          {t('relation.list.version', { version: format.number(node.version) })}
          {node.written === null ? null : (
            <>
              , <RelativeTime value={new Date(node.written.at)} />
            </>
          )}
        </span>
        {onSeen === null ? <span /> : <SeenBy node={node} moment={moment} onOpen={onSeen} />}
      </div>
      {isOpen ? <NodeValues {...props} node={node} /> : null}
    </>
  );
}

/** Number of values in a closed row. */
const previewed = 4;

/** The first values of a unit on one line. */
function Preview({ node }: { node: ShownNode }) {
  const shown = [...node.values].filter(([, { value }]) => value !== null).slice(0, previewed);
  if (shown.length === 0) return null;
  return (
    <span translate="no" dir="ltr" className="mono-11 block truncate text-ink-2">
      {shown.map(([key, { value }]) => `${key}=${value?.slice(0, 60)}`).join('  ')}
    </span>
  );
}

type NodeValuesProps = Omit<NodeRowProps, 'moment' | 'isOpen' | 'onToggle' | 'onSeen'>;

function NodeValues({ node, compared, changed, revealed, cell, onCell }: NodeValuesProps) {
  const { t } = useTranslation('services');
  const other = compared?.nodes.find(({ unit }) => unit === node.unit);
  const hasHidden = [...node.values].some(
    ([key, { masked }]) => masked && revealed.value(node.unit, key, node.version) === undefined,
  );
  if (node.values.size === 0) return <p className="px-4 pb-3 text-12 text-ink-3">{t('relation.list.empty')}</p>;
  return (
    <div className="px-4 pb-3">
      <dl className="grid grid-cols-[minmax(6rem,12rem)_minmax(0,1fr)] gap-x-3">
        {[...node.values].map(([key, value]) => {
          const isDifferent =
            compared !== null && differs(value, other?.values.get(key), changed.has(cellOf(node.unit, key)));
          const isOpened = cell?.unit === node.unit && cell.key === key;
          return (
            <div
              key={key}
              className={cn('col-span-2 grid grid-cols-subgrid rounded-sm', isDifferent && 'bg-brand-tint')}
            >
              <dt translate="no" className="mono truncate py-1 text-ink-2">
                {key}
              </dt>
              <dd className="min-w-0">
                <button
                  type="button"
                  aria-pressed={isOpened}
                  onClick={() => onCell({ unit: node.unit, key })}
                  className="w-full min-w-0 rounded-sm px-1 py-1 text-start hover:bg-hover focus-visible:shadow-focus"
                >
                  <span className="sr-only">{t('relation.cell', { key, unit: node.unit })}: </span>
                  <ValueText value={value} revealed={revealed.value(node.unit, key, node.version)} />
                </button>
              </dd>
            </div>
          );
        })}
      </dl>
      {hasHidden ? <ShowHidden unit={node.unit} revealed={revealed} /> : null}
    </div>
  );
}

function ShowHidden({ unit, revealed }: { unit: string; revealed: Revealed }) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  if (!may) return null;
  return (
    <Button size="sm" variant="ghost" busy={revealed.busy === unit} onClick={() => revealed.show(unit)}>
      {t('relation.value.showOf', { unit })}
    </Button>
  );
}
