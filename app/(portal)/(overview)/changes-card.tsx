'use client';

import { useQuery } from '@tanstack/react-query';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { type VmHealth, vmHealths } from '#server/domain/verdicts/words.ts';
import type { OverviewAnswers } from './answers.ts';
import { Part } from './part.tsx';

type Changes = OverviewAnswers['changes'];
type Kind = keyof Changes['totals'];

const kindOf = {
  failed: 'failed',
  unresponsive: 'silent',
  degraded: 'degraded',
  progressing: 'started',
  healthy: 'recovered',
} as const satisfies Record<Exclude<VmHealth, 'unknown'>, Kind>;

/** The order of the parts of a bar, from bottom to top. Failures are at the bottom, so that they share a baseline. */
const stack: readonly { kind: Kind; status: StatusName }[] = vmHealths.flatMap((health) =>
  health === 'unknown' ? [] : [{ kind: kindOf[health], status: statusOfHealth[health] }],
);
const shownInLegend: readonly Kind[] = stack.map(({ kind }) => kind).toReversed();
const height = 72;

/** Changes of health in the last hour: one bar for every two and a half minutes. */
export function ChangesCard({ first }: { first: Changes | undefined }) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const format = useFormat();
  const changes = useQuery({ ...trpc.overview.changes.queryOptions(), initialData: first, enabled: false });
  useThrottledReload({ queryKey: trpc.overview.changes.queryKey(), refetch: changes.refetch, agesMs: 30_000 });
  const vms = changes.data?.vms ?? 0;
  return (
    <Card aria-labelledby="changes">
      <CardHeader
        id="changes"
        title={t('changes')}
        actions={
          vms > 0 ? (
            <TextLink
              href={vmsAddress({ changedAfter: changes.data?.since }, '-since')}
              data-count={vms}
              prefetch={false}
              className="text-12 tabular-nums no-underline hover:underline"
            >
              {t('fleet.vms', { count: vms, shown: format.number(vms) })}
            </TextLink>
          ) : undefined
        }
      />
      <Part query={changes} failed={t('changes.notLoaded')}>
        {(data) => (
          <CardBody className="pb-3">
            <Bars changes={data} />
            <ul className="grid grid-cols-2 gap-x-3 gap-y-1 pt-2.5 text-12 text-ink-2">
              {shownInLegend
                .filter((kind) => kind !== 'silent' || data.totals.silent > 0)
                .map((kind) => (
                  <li key={kind} className="flex items-center gap-1.5 tabular-nums">
                    <span
                      aria-hidden
                      data-st={stack.find((layer) => layer.kind === kind)?.status}
                      className="size-2.5 shrink-0 rounded-[1.5px] bg-st-solid"
                    />
                    <ChangedVms kind={kind} changes={data} />
                  </li>
                ))}
            </ul>
          </CardBody>
        )}
      </Part>
    </Card>
  );
}

/** The number of VMs with a change of this kind, with a link to them. */
function ChangedVms({ kind, changes: { totals, since } }: { kind: Kind; changes: Changes }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const count = totals[kind];
  const words = t(`changes.${kind}`, { count, shown: format.number(count) });
  const became = vmHealths.filter((health) => health !== 'unknown' && kindOf[health] === kind);
  if (count === 0) return words;
  return (
    <TextLink
      href={vmsAddress({ became, changedAfter: since })}
      prefetch={false}
      data-count={count}
      className="text-ink-2 no-underline hover:underline"
    >
      {words}
    </TextLink>
  );
}

function Bars({ changes }: { changes: Changes }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const clock = (at: Date): string => format.dateTime(at, 'clock');
  const sizes = changes.bars.map((bar) => stack.reduce((sum, { kind }) => sum + bar[kind], 0));
  const most = Math.max(1, ...sizes);
  const peak = changes.bars[sizes.indexOf(most)];
  const marks = changes.bars.filter((_, index) => index % 6 === 0);
  const end = new Date(Date.parse(changes.bars.at(-1)?.from ?? '') + changes.barSeconds * 1000);
  return (
    // Time runs from left to right in every language.
    <div dir="ltr">
      <div
        role="img"
        aria-label={peak ? t('changes.chart', { most, time: clock(new Date(peak.from)) }) : t('changes.chart.none')}
        className="flex items-end gap-[3px] border-b border-line"
        style={{ height }}
      >
        {changes.bars.map((bar) => {
          const from = new Date(bar.from);
          const counts = stack
            .filter(({ kind }) => bar[kind] > 0)
            .map(({ kind }) => t(`changes.${kind}`, { count: bar[kind], shown: bar[kind] }));
          return (
            <span
              key={bar.from}
              title={[clock(from), ...counts].join('\n')}
              className="flex h-full flex-1 flex-col-reverse gap-px"
            >
              {stack
                .filter(({ kind }) => bar[kind] > 0)
                .map(({ kind, status }) => (
                  <span
                    key={kind}
                    data-st={status}
                    className="shrink-0 rounded-[1px] bg-st-solid"
                    style={{ height: Math.max(2, (bar[kind] / most) * (height - 8)) }}
                  />
                ))}
            </span>
          );
        })}
      </div>
      <div className="flex justify-between pt-1 text-11 text-ink-3 tabular-nums">
        {marks.map(({ from }) => (
          <span key={from}>{clock(new Date(from))}</span>
        ))}
        <span>{clock(end)}</span>
      </div>
    </div>
  );
}
