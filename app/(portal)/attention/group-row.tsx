'use client';

import { BellOff, ChevronRight } from 'lucide-react';
import Link from 'next/link';
import { useId } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Avatar } from '#app/_ui/avatar.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { DateTime, Elapsed } from '#app/_ui/time.tsx';
import { useCause } from '#app/(portal)/(overview)/use-cause.ts';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import { AssignMenu } from './assign-menu.tsx';
import type { AttentionVm } from './attention-data.ts';
import { SnoozeMenu } from './snooze-menu.tsx';
import { useGroupTitle } from './use-group-words.ts';
import type { ProblemVms } from './use-problem-vms.ts';
import { VmRows } from './vm-rows.tsx';

export interface GroupRowProps {
  group: AttentionGroup;
  /** The VMs of the problem; null while they are collapsed. */
  vms: ProblemVms | null;
  /** The VM whose details are open. */
  openVm: string | null;
  onUnfold(): void;
  onOpen(vm: AttentionVm): void;
}

/**
 * A problem: its title, the number of its VMs, what they have in common, when it began, its assignee, and the VMs.
 */
export function GroupRow({ group, vms, openVm, onUnfold, onOpen }: GroupRowProps) {
  const { t } = useTranslation('attention');
  const format = useFormat();
  const reader = useReader();
  const title = useGroupTitle()(group);
  const id = useId();
  const many = t('vms', { count: group.vms, shown: format.number(group.vms) });
  return (
    <li>
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1.5 px-4 py-2.5">
        <div className="flex min-w-0 flex-[1_1_22rem] items-start gap-2.5">
          <StatusIcon status={statusOfHealth[group.health]} className="mt-[3px]" />
          <div className="min-w-0 flex-1">
            <h2 id={id} className="text-13 font-medium">
              <button
                type="button"
                data-triage-row
                aria-expanded={vms !== null}
                title={t('show')}
                onClick={onUnfold}
                className="flex w-full items-start gap-1 rounded-sm text-start hover:underline focus-visible:shadow-focus"
              >
                <ChevronRight
                  aria-hidden
                  strokeWidth={1.75}
                  className={cn('mt-0.5 size-4 shrink-0 text-ink-3', vms === null ? 'rtl:-scale-x-100' : 'rotate-90')}
                />
                <bdi
                  lang={title.lang === null ? undefined : (canonicalLanguage(title.lang) ?? '')}
                  className="min-w-0 line-clamp-3 wrap-anywhere"
                >
                  {isolateText(title.text)}
                </bdi>
              </button>
            </h2>
            <Shared group={group} />
            <Decisions group={group} />
          </div>
        </div>
        <div className="ms-auto flex items-center gap-2 max-sm:ms-11 max-sm:w-full">
          <Link
            href={`/vms?${group.query}`}
            data-count={group.vms}
            prefetch={false}
            className="rounded-xs font-medium whitespace-nowrap text-brand-text tabular-nums underline decoration-brand-line underline-offset-3 hover:decoration-current"
          >
            {many}
          </Link>
          {reader.can('operator') ? (
            <span className="flex gap-1 max-sm:ms-auto">
              <AssignMenu group={group} labelledBy={id} />
              <SnoozeMenu group={group} labelledBy={id} />
            </span>
          ) : null}
        </div>
      </div>
      {vms === null ? null : <VmRows group={group} title={title.text} vms={vms} openVm={openVm} onOpen={onOpen} />}
    </li>
  );
}

/** The minute of a time. Two times in one minute are shown as one. */
const minuteOf = (time: string): number => Math.floor(Date.parse(time) / 60_000);

/** What the VMs have in common, and when the problem began. */
function Shared({ group: { extension, common, since, lastSince, vms } }: { group: AttentionGroup }) {
  const { t } = useTranslation(['attention', 'overview']);
  const cause = useCause();
  const format = useFormat();
  return (
    // Each part has a dot in front of it. The paragraph cuts off the dots at the beginnings of its lines.
    <p className="mt-0.5 ms-5 overflow-x-clip text-12 text-ink-3">
      <span className="-ms-4 flex flex-wrap *:relative *:ps-4 *:before:absolute *:before:start-1.5 *:before:content-['·']">
        {extension === null ? null : (
          <span translate="no" className="min-w-0 wrap-anywhere">
            {/* Without a message, the title already names the handler. */}
            {[extension.message === null ? null : extension.handler, format.list(extension.versions)]
              .filter(Boolean)
              .join(' ')}
          </span>
        )}
        {extension?.command && extension.message ? <span className="tabular-nums">{cause(extension)}</span> : null}
        {common === null ? null : (
          <span>
            {t(common.share === 1 ? 'overview:failing.all' : 'overview:failing.most', {
              tag: `${common.name}=${common.value}`,
              share: format.percent(common.share),
              fleet: format.percent(common.fleetShare),
            })}
          </span>
        )}
        <span className="tabular-nums">
          {t('attention:since')} <DateTime value={new Date(since)} />
          {vms > 1 && minuteOf(lastSince) !== minuteOf(since) ? (
            <>
              {', '}
              {t('attention:last')} <DateTime value={new Date(lastSince)} />
            </>
          ) : null}{' '}
          <span className="whitespace-nowrap">
            (<Elapsed value={new Date(since)} />)
          </span>
        </span>
      </span>
    </p>
  );
}

/** Who the problem is assigned to, and when its snooze ends. */
function Decisions({ group: { assignee, snooze } }: { group: AttentionGroup }) {
  const { t } = useTranslation('attention');
  const format = useFormat();
  if (assignee === null && snooze === null) return null;
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1 ps-5 text-12 text-ink-2">
      {assignee === null ? null : (
        <span className="flex items-center gap-1.5">
          <Avatar name={assignee.name} className="size-[18px]" />
          {assignee.by === assignee.name
            ? t('assigned', { name: assignee.name })
            : t('assigned.by', {
                name: assignee.name,
                by: assignee.by,
                at: format.dateTime(new Date(assignee.at), 'short'),
              })}
        </span>
      )}
      {snooze === null ? null : (
        <span className="flex items-center gap-1.5">
          <BellOff aria-hidden className="size-3.5 text-ink-3" />
          {snooze.until === null
            ? t('snoozed.change', { by: snooze.by })
            : t('snoozed.until', { by: snooze.by, until: format.dateTime(new Date(snooze.until), 'short') })}
        </span>
      )}
    </p>
  );
}
