'use client';

import Link from 'next/link';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th } from '#app/_ui/table.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { unitHref } from '../../services/service-data.ts';
import { cellOf, differs, type SideTable } from '../moments.ts';
import type { Moment, NodeValue, ShownNode } from '../relation-data.ts';
import type { Pinned } from './compare-choice.tsx';
import type { OpenedCell } from './opened-cell.ts';
import { SeenBy } from './seen-by.tsx';
import type { Revealed } from './use-revealed.ts';
import { ValueText } from './value-text.tsx';

export interface NodeTableProps {
  table: SideTable;
  model: string;
  moment: Moment;
  compared: Moment | null;
  pinned: Pinned;
  changed: ReadonlySet<string>;
  revealed: Revealed;
  cell: OpenedCell | null;
  onCell(cell: OpenedCell): void;
  /** Opens who has seen a unit’s settings; null for a moment in the past. */
  onSeen: ((unit: string) => void) | null;
}

/** The settings of the units on one side: a column for each unit, a row for each key. */
export function NodeTable(props: NodeTableProps) {
  const { table, model, moment, compared, onSeen } = props;
  const { t } = useTranslation('services');
  const { side, service, name, units, keys } = table;
  const nodeOf = (of: Moment | null, unit: string) => of?.nodes.find((node) => node.unit === unit);
  return (
    <div className="border-t border-line">
      <h3 className="flex min-h-9 flex-wrap items-baseline gap-x-2 px-4 py-2">
        <span translate="no" className="font-semibold">
          {service}
        </span>
        <span className="text-12 text-ink-2">{t(`relation.side.${side}.short`, { name })}</span>
      </h3>
      {units.length === 0 ? (
        <p className="px-4 pb-3 text-ink-2">{t('relation.side.none')}</p>
      ) : (
        <TableFrame label={t(`relation.side.${side}`, { service, name })}>
          <Table className="border-t border-line-subtle">
            <THead>
              <tr>
                <Th className="static w-40 min-w-28">{t('relation.column.key')}</Th>
                {units.map((unit) => (
                  <Th key={unit} className="static min-w-36 border-s border-s-line-subtle text-13">
                    <Link
                      href={unitHref(model, unit)}
                      prefetch={false}
                      translate="no"
                      className="rounded-xs font-medium text-ink hover:underline"
                    >
                      {unit}
                    </Link>
                    {nodeOf(moment, unit) === undefined ? (
                      <span className="ms-2 font-normal text-ink-3">{t('relation.column.absent')}</span>
                    ) : null}
                  </Th>
                ))}
              </tr>
            </THead>
            <TBody>
              {keys.map((key) => (
                <tr key={key}>
                  <Td translate="no" className="mono max-w-56 truncate align-top leading-9 text-ink-2" title={key}>
                    {key}
                  </Td>
                  {units.map((unit) => (
                    <Cell
                      key={unit}
                      {...props}
                      unit={unit}
                      name={key}
                      node={nodeOf(moment, unit)}
                      other={nodeOf(compared, unit)}
                    />
                  ))}
                </tr>
              ))}
              <FootRow label={t('relation.column.version')} units={units}>
                {(unit) => <Version node={nodeOf(moment, unit)} />}
              </FootRow>
              {onSeen === null ? null : (
                <FootRow label={t('relation.column.seen')} units={units}>
                  {(unit) => <SeenBy node={nodeOf(moment, unit)} moment={moment} onOpen={onSeen} />}
                </FootRow>
              )}
            </TBody>
          </Table>
        </TableFrame>
      )}
    </div>
  );
}

interface FootRowProps {
  label: string;
  units: readonly string[];
  children(unit: string): ReactNode;
}

function FootRow({ label, units, children }: FootRowProps) {
  return (
    <tr className="bg-sunken">
      <Td className="text-ink-2">{label}</Td>
      {units.map((unit) => (
        <Td key={unit} className="border-s border-s-line-subtle">
          {children(unit)}
        </Td>
      ))}
    </tr>
  );
}

function Version({ node }: { node: ShownNode | undefined }) {
  const format = useFormat();
  if (node === undefined) return null;
  return (
    <span className="tabular-nums">
      <span className="font-semibold">{format.number(node.version)}</span>
      {node.written === null ? null : (
        <span className="text-ink-2">
          , <RelativeTime value={new Date(node.written.at)} />
        </span>
      )}
    </span>
  );
}

interface CellProps extends NodeTableProps {
  unit: string;
  name: string;
  node: ShownNode | undefined;
  other: ShownNode | undefined;
}

function Cell({ unit, name, node, other, compared, pinned, changed, revealed, cell, onCell }: CellProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const may = useReader().can('operator');
  const value = node?.values.get(name);
  const later = other?.values.get(name);
  const isOpened = cell?.unit === unit && cell.key === name;
  const isDifferent = compared !== null && differs(value, later, changed.has(cellOf(unit, name)));
  const shown = revealed.value(unit, name, node?.version ?? 0);
  const isHidden = may && value?.masked === true && shown === undefined;
  return (
    <Td className={cn('max-w-72 border-s border-s-line-subtle p-0 align-top', isDifferent && 'bg-brand-tint')}>
      <div className="flex items-start gap-2">
        <button
          type="button"
          aria-pressed={isOpened}
          onClick={() => onCell({ unit, key: name })}
          className={cn(
            'flex min-h-9 min-w-0 flex-1 items-center gap-2 px-3 text-start focus-visible:shadow-focus',
            isDifferent ? 'py-1.5' : 'hover:bg-hover',
            isOpened && 'shadow-[inset_0_0_0_2px_var(--brand-text)]',
          )}
        >
          <span className="min-w-0 flex-1">
            <span className="sr-only">{t('relation.cell', { key: name, unit })}: </span>
            <ValueText value={value} revealed={shown} />
            {isDifferent ? (
              <span className="block text-12 text-brand-text">
                <Other value={later} isNow={pinned === 'now'} />
              </span>
            ) : null}
          </span>
          {value === undefined ? null : (
            <span className="text-11 text-ink-3 tabular-nums max-sm:hidden">{format.bytes(value.bytes)}</span>
          )}
        </button>
        {isHidden ? (
          <button
            type="button"
            aria-label={t('relation.value.showOf', { unit })}
            disabled={revealed.busy === unit}
            onClick={() => revealed.show(unit)}
            className="min-h-9 rounded-sm pe-3 text-12 text-brand-text hover:underline focus-visible:shadow-focus"
          >
            {t('relation.value.show')}
          </button>
        ) : null}
      </div>
    </Td>
  );
}

/** The value at the other moment. */
function Other({ value, isNow }: { value: NodeValue | undefined; isNow: boolean }) {
  const { t } = useTranslation('services');
  if (value === undefined) return t(isNow ? 'relation.compare.unsetNow' : 'relation.compare.unset');
  if (value.value === null) return t(isNow ? 'relation.compare.differentNow' : 'relation.compare.different');
  return (
    <>
      {t(isNow ? 'relation.compare.otherNow' : 'relation.compare.other')}{' '}
      <span translate="no" dir="ltr" className="mono">
        {value.value.slice(0, 120)}
      </span>
    </>
  );
}
