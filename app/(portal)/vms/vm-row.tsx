'use client';

import { ArrowUp, Cable, CircleArrowUp, LockKeyhole, Pause } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Status, StatusChip } from '#app/_ui/status.tsx';
import { Td, Tr } from '#app/_ui/table.tsx';
import { Chip, Tag } from '#app/_ui/tag.tsx';
import { Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import { useCause } from '../(overview)/use-cause.ts';
import type { ColumnName } from './columns.ts';
import { chipWidth, fitting } from './fitting.ts';
import type { FleetRow } from './reading.ts';

// Rendered by the server; its script follows the page's.
const RowRetry = dynamic(() => import('./row-retry.tsx').then((module) => module.RowRetry));

/** Pixels available in columns with several small items. */
export interface CellRoom {
  extensions: number;
  tags: number;
}

export interface VmRowProps {
  row: FleetRow;
  /** Index of the row in the list, from 0. */
  index: number;
  cursor: boolean;
  columns: readonly ColumnName[];
  compact: boolean;
  room: CellRoom;
  onOpen(vmId: string): void;
}

const line =
  'relative bg-surface max-sm:grid max-sm:h-[68px] max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:content-center max-sm:gap-x-3 max-sm:gap-y-1.5 max-sm:border-b max-sm:border-line-subtle max-sm:last:border-b-0 max-sm:px-4 max-sm:[&>td]:ps-0! max-sm:[&>td]:pe-0!';
const narrow = 'max-sm:block max-sm:h-auto max-sm:border-0 max-sm:p-0';

/** A row of the VM list. Renders again only when its props change. */
export const VmRow = memo(function VmRow({ row, index, cursor, columns, compact, room, onOpen }: VmRowProps) {
  const height = compact ? 'h-(--row-compact)' : '';
  const reason = useReasonText(row);
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onOpen(row.id);
  };
  return (
    <Tr aria-rowindex={index + 2} cursor={cursor} className={line}>
      <Td className={cn('overflow-hidden font-medium', height, narrow)}>
        {/* A plain link, because the router's link would observe its visibility for every row that scrolls past. */}
        <a
          href={`/vms/${row.id}`}
          onClick={open}
          // The link covers the row, so its tooltip has the whole reason too.
          title={[row.name, reason].filter(Boolean).join('\n')}
          translate="no"
          className="block truncate after:absolute after:inset-0 focus-visible:after:shadow-[inset_0_0_0_2px_var(--brand-text)] focus-visible:shadow-none"
        >
          {row.name}
        </a>
      </Td>
      {columns.map((column) => (
        <Td
          key={column}
          end={column === 'lastSeen'}
          className={cn(
            'overflow-hidden',
            height,
            places[column],
            column === 'reason' && row.agent.status !== 'unresponsive' && 'max-sm:col-span-2',
            hidesOnPhone(column, row, columns) && 'max-sm:hidden',
          )}
        >
          {cells[column](row, room)}
        </Td>
      ))}
    </Tr>
  );
});

const hidden = 'text-ink-2 max-sm:hidden';
const places: Readonly<Record<ColumnName, string>> = {
  health: cn('max-sm:text-end', narrow),
  reason: cn('text-ink-2 max-sm:order-1', narrow),
  since: hidden,
  extensions: cn('max-sm:order-1', narrow),
  agent: hidden,
  lastSeen: cn('text-ink-2 max-sm:order-2 max-sm:self-center max-sm:text-12', narrow),
  tags: hidden,
  goalState: cn(hidden, 'tabular-nums'),
  system: hidden,
  clockSkew: cn(hidden, 'tabular-nums'),
  cloudService: cn(hidden, 'mono'),
  instanceId: cn(hidden, 'mono'),
};

/**
 * On a phone, the second line of a row has room for the reason or, if there is none, for the extensions and the last
 * call. If the agent does not respond, the last call is shown beside the reason.
 */
function hidesOnPhone(column: ColumnName, { reason, agent }: FleetRow, columns: readonly ColumnName[]): boolean {
  if (!columns.includes('reason')) return false;
  if (reason === null) return column === 'reason';
  return column === 'extensions' || (column === 'lastSeen' && agent.status !== 'unresponsive');
}

const cells: Readonly<Record<ColumnName, (row: FleetRow, room: CellRoom) => ReactNode>> = {
  health: (row) => <Health row={row} />,
  reason: (row) => <Reason row={row} />,
  since: ({ since }) => (since === null ? null : <Elapsed use="since" value={new Date(since)} />),
  extensions: (row, { extensions }) => <Extensions row={row} room={extensions} />,
  agent: ({ agentKind, agentVersion, availableAgentVersion }) =>
    agentKind === 'stock' ? (
      <StockAgent version={agentVersion} />
    ) : availableAgentVersion === null ? (
      <Cut>{agentVersion}</Cut>
    ) : (
      <OlderAgent version={agentVersion} available={availableAgentVersion} />
    ),
  lastSeen: (row) => <LastSeen row={row} />,
  tags: ({ tags }, room) => <Tags tags={tags} room={room.tags} />,
  goalState: ({ goalState }) => goalState,
  system: ({ os }) => <Cut>{[os?.name, os?.version].filter(Boolean).join(' ')}</Cut>,
  clockSkew: ({ clockSkewSeconds }) => <Skew seconds={clockSkewSeconds} />,
  cloudService: ({ role }) => <Cut>{role?.cloudService ?? null}</Cut>,
  instanceId: ({ role }) => <Cut>{role?.instanceId ?? null}</Cut>,
};

function Cut({ children }: { children: string | null }) {
  return (
    <span className="block truncate" title={children ?? undefined}>
      {children}
    </span>
  );
}

function StockAgent({ version }: { version: string | null }) {
  const { t } = useTranslation('vms');
  const label = t('agent.stock');
  return (
    <span className="flex items-center gap-1" title={`${label} ${version ?? ''}`}>
      <Cable aria-hidden className="size-3 shrink-0 text-ink-3" />
      <span className="sr-only">{label}</span>
      <span className="truncate">{version}</span>
    </span>
  );
}

function OlderAgent({ version, available }: { version: string | null; available: string }) {
  const { t } = useTranslation('vms');
  const label = t('agent.available', { version: available });
  return (
    <span className="flex items-center gap-1" title={`${version ?? ''}, ${label}`}>
      <span className="truncate">{version}</span>
      <CircleArrowUp aria-hidden className="size-3.5 shrink-0 text-brand-text" />
      <span className="sr-only">, {label}</span>
    </span>
  );
}

function Health({ row }: { row: FleetRow }) {
  const { t } = useTranslation(['vms', 'reports']);
  const status = row.agent.status === 'unresponsive' ? 'unresponsive' : statusOfHealth[row.health];
  return (
    <span className="inline-flex items-center gap-1.5">
      <Status status={status}>
        {row.agent.status === 'never' ? t('vms:neverSeen') : t(`reports:health.${row.health}`)}
      </Status>
      {row.needsRelease ? (
        <span title={t('vms:needsRelease')}>
          <LockKeyhole aria-hidden className="size-3.5 text-warning-text" />
          <span className="sr-only">{t('vms:needsRelease')}</span>
        </span>
      ) : null}
    </span>
  );
}

/** Returns why the VM is not healthy, with the extension; empty if there is no reason. */
function useReasonText({ reason }: FleetRow): string {
  const cause = useCause();
  if (reason === null) return '';
  const { extension, text } = reason;
  if (text === null) return [extension, cause(reason)].filter(Boolean).join(' ');
  return [extension, text].filter(Boolean).join(': ');
}

/** Why the VM is not healthy, on one line. */
function Reason({ row: { reason } }: { row: FleetRow }) {
  const cause = useCause();
  if (reason === null) return null;
  return (
    <span className="block truncate">
      {reason.extension === null ? null : (
        <>
          <span translate="no" className="text-ink-3">
            {reason.extension}
          </span>{' '}
        </>
      )}
      <bdi lang={reason.lang === null ? undefined : (canonicalLanguage(reason.lang) ?? '')}>
        {isolateText(reason.text ?? cause(reason))}
      </bdi>
    </span>
  );
}

function Held({ reason }: { reason: string | null }) {
  const { t } = useTranslation('vms');
  const word = reason === null ? t('held') : t('held.reason', { reason });
  return (
    <Chip className="shrink-0" title={word}>
      <Pause aria-hidden className="size-3" />
      <span className="max-sm:sr-only">{t('held')}</span>
    </Chip>
  );
}

function LastSeen({ row }: { row: FleetRow }) {
  if (row.agent.lastSeenAt === null) return null;
  const late = row.agent.status === 'unresponsive';
  return (
    <span data-st={late ? 'unresponsive' : undefined} className={late ? 'text-st-text' : undefined}>
      <RelativeTime value={new Date(row.agent.lastSeenAt)} />
    </span>
  );
}

/** Width in pixels of the button that runs a handler again, with its gap. */
const retryWidth = 28;

function Extensions({ row, room }: { row: FleetRow; room: number }) {
  const { t } = useTranslation(['vms', 'reports']);
  const { extensions } = row;
  const update = useUpdate(extensions);
  const notes = [
    update?.label ?? [],
    row.restartPendingSince === null ? [] : t('vms:restartPending'),
    row.decommissioning ? t('vms:decommissioning') : [],
  ].flat();
  const taken = notes.reduce((sum, note) => sum + chipWidth(note), row.hold === null ? 0 : chipWidth(t('vms:held')));
  const shown = fitting(
    extensions.map(({ name }) => name),
    room - taken - (row.reason === null ? 0 : retryWidth),
  );
  const rest = extensions.slice(shown);
  return (
    <span className="flex items-center gap-1 overflow-hidden py-0.5 -my-0.5">
      <RowRetry row={row} />
      {extensions.slice(0, shown).map((extension) => (
        <StatusChip
          key={extension.name}
          status={extension.waitsFor === null ? statusOfHealth[extension.health] : 'waiting'}
          word={
            extension.waitsFor === null
              ? t(`reports:health.${extension.health}`)
              : t('vms:waitsFor', { name: extension.waitsFor })
          }
          className="min-w-0"
        >
          {extension.name}
        </StatusChip>
      ))}
      {rest.length > 0 ? (
        <Chip translate="no" className="shrink-0" title={rest.map(({ name }) => name).join(', ')}>
          +{rest.length}
        </Chip>
      ) : null}
      {update === null ? null : (
        <Chip className="shrink-0" title={update.title}>
          <ArrowUp aria-hidden className="size-3" />
          {update.label}
        </Chip>
      )}
      {row.hold === null ? null : <Held reason={row.hold.reason} />}
      {row.restartPendingSince === null ? null : <Chip className="shrink-0">{t('vms:restartPending')}</Chip>}
      {row.decommissioning ? <Chip className="shrink-0">{t('vms:decommissioning')}</Chip> : null}
    </span>
  );
}

/** Returns the label and the title of the chip for newer versions that the VM can run; null if there are none. */
function useUpdate(extensions: FleetRow['extensions']): { label: string; title: string } | null {
  const { t } = useTranslation('vms');
  const updates = extensions.flatMap(({ name, updateAvailable: version }) =>
    version === null ? [] : [{ name, version }],
  );
  const [first, ...others] = [...new Set(updates.map(({ version }) => version))];
  if (first === undefined) return null;
  return {
    label: t('update', { version: others.length > 0 ? `${first} +${others.length}` : first }),
    title: updates.map((update) => t('update.of', update)).join(', '),
  };
}

function Tags({ tags, room }: { tags: FleetRow['tags']; room: number }) {
  const all = Object.entries(tags);
  const shown = fitting(
    all.map(([name, value]) => `${name}:${value}`),
    room,
  );
  const rest = all.slice(shown);
  return (
    <span className="flex gap-1 overflow-hidden py-0.5 -my-0.5">
      {all.slice(0, shown).map(([name, value]) => (
        <Tag key={name} name={name} className="max-w-36">
          {value}
        </Tag>
      ))}
      {rest.length > 0 ? (
        <Chip translate="no" className="shrink-0" title={rest.map(([name, value]) => `${name}: ${value}`).join(', ')}>
          +{rest.length}
        </Chip>
      ) : null}
    </span>
  );
}

function Skew({ seconds }: { seconds: number | null }) {
  const format = useFormat();
  if (seconds === null) return null;
  return format.number(seconds, { style: 'unit', unit: 'second', unitDisplay: 'narrow', signDisplay: 'exceptZero' });
}
