'use client';

import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { useTicking } from '#app/_ui/clock.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import type { OverviewAnswers } from './answers.ts';
import { Part } from './part.tsx';
import { useCause } from './use-cause.ts';

type Group = OverviewAnswers['failing'][number];

/** The largest groups of VMs that are failed, degraded or unresponsive for the same reason, with links to the VMs. */
export function FailingTogether({ first }: { first: OverviewAnswers['failing'] | undefined }) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const failing = useQuery({ ...trpc.overview.failing.queryOptions(), initialData: first, enabled: false });
  useThrottledReload({ queryKey: trpc.overview.failing.queryKey(), refetch: failing.refetch, agesMs: 60_000 });
  const isTogether = !failing.data?.length || failing.data.some(({ vms }) => vms > 1);
  return (
    <section aria-labelledby="failing" className="border-t border-line-subtle px-4 pt-2.5 pb-2">
      <div className="flex items-baseline gap-3">
        <h2 id="failing" className="text-12 font-medium text-ink-3">
          {t(isTogether ? 'failing' : 'failing.alone')}
        </h2>
        {failing.data?.length ? (
          <TextLink href="/attention" prefetch={false} className="ms-auto text-12">
            {t('failing.more')}
          </TextLink>
        ) : null}
      </div>
      <Part query={failing} failed={t('failing.failed')}>
        {(groups) =>
          groups.length === 0 ? (
            <p className="flex items-center gap-2 py-1.5 text-ink-2">
              <StatusIcon status="healthy" />
              {t('failing.none')}
            </p>
          ) : (
            <ul className="-mx-2 mt-0.5 grid grid-cols-3 max-md:grid-cols-1 xl:grid-cols-6">
              {groups.map((group) => (
                <li key={group.key} className="min-w-0">
                  <GroupLink group={group} />
                </li>
              ))}
            </ul>
          )
        }
      </Part>
    </section>
  );
}

const hour = 3_600_000;

/** Shows the time of day, with the date if it is more than 20 hours ago. */
function Since({ at }: { at: string }) {
  const value = new Date(at);
  const isRecent = useTicking((now) => String(now - value.getTime() < 20 * hour)) === 'true';
  return <DateTime value={value} style={isRecent ? 'clock' : 'short'} />;
}

/**
 * A problem. The number links to the list of its VMs. The rest of the row links to the problem or, if the problem has
 * only one VM, to the VM.
 */
function GroupLink({ group }: { group: Group }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const cause = useCause();
  const { extension, common, vm, health } = group;
  const what =
    extension === null
      ? t('failing.silent')
      : extension.message
        ? `${extension.name ?? extension.handler}: ${extension.message.text}`
        : `${extension.name ?? extension.handler} ${cause(extension)}`;
  const words = (
    <bdi lang={extension?.message ? (canonicalLanguage(extension.message.lang) ?? '') : undefined}>
      {isolateText(what)}
    </bdi>
  );
  return (
    <div className="relative flex items-start gap-2.5 rounded-md px-2 py-1.5 hover:bg-hover">
      <StatusIcon status={statusOfHealth[health]} className="mt-[3px]" />
      <div className="min-w-0 flex-1">
        <div className="font-medium wrap-anywhere">
          {vm ? null : (
            <>
              <TextLink
                href={`/vms?${group.query}`}
                prefetch={false}
                data-count={group.vms}
                className="relative z-1 tabular-nums"
              >
                {t('fleet.vms', { count: group.vms, shown: format.number(group.vms) })}
              </TextLink>
              {', '}
            </>
          )}
          <Link
            href={vm ? `/vms/${vm.id}` : `/attention?problem=${group.key}`}
            prefetch={false}
            className="after:absolute after:inset-0 after:rounded-md focus-visible:shadow-none focus-visible:after:shadow-focus"
          >
            {vm ? `${vm.name}, ` : null}
            {words}
          </Link>
        </div>
        <span className="block text-12 text-ink-3">
          {common
            ? `${t(common.share === 1 ? 'failing.all' : 'failing.most', {
                tag: `${common.name}=${common.value}`,
                share: format.percent(common.share),
                fleet: format.percent(common.fleetShare),
              })}, `
            : null}
          {extension && extension.versions.length > 0 ? `${format.list(extension.versions)}, ` : null}
          {t('failing.since')} <Since at={group.since} />
        </span>
        <Decision group={group} />
      </div>
      <ChevronRight
        aria-hidden
        strokeWidth={1.75}
        className="size-3.5 shrink-0 self-center text-ink-3 rtl:-scale-x-100"
      />
    </div>
  );
}

/** Who the problem is assigned to, and whether it is snoozed. */
function Decision({ group: { assignee, snooze } }: { group: Group }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  if (assignee === null && snooze === null) return null;
  const until = snooze?.until ? format.dateTime(new Date(snooze.until), 'short') : null;
  const words = [
    assignee === null ? null : t('failing.assigned', { name: assignee.name }),
    snooze === null ? null : until === null ? t('failing.snoozed') : t('failing.snoozedUntil', { until }),
  ];
  return <span className="block text-12 text-ink-2">{words.filter((word) => word !== null).join(', ')}</span>;
}
