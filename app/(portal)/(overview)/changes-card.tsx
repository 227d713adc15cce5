'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { OverviewAnswers } from './answers.ts';
import { type BarLayer, barLayers, ChangesBars } from './changes-bars.tsx';
import { Part } from './part.tsx';

type Changes = OverviewAnswers['changes'];

const shownInLegend = barLayers.toReversed();

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
            <ChangesBars changes={data} />
            <ul className="grid grid-cols-2 gap-x-3 gap-y-1 pt-2.5 text-12 text-ink-2">
              {shownInLegend
                .filter(({ kind }) => kind !== 'silent' || data.totals.silent > 0)
                .map((layer) => (
                  <li key={layer.kind} className="flex items-center gap-1.5 tabular-nums">
                    <span
                      aria-hidden
                      data-st={layer.status}
                      className="size-2.5 shrink-0 rounded-[1.5px] bg-st-solid"
                    />
                    <ChangedVms layer={layer} changes={data} />
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
function ChangedVms({ layer: { kind, health }, changes: { totals, since } }: { layer: BarLayer; changes: Changes }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const count = totals[kind];
  const words = t(`changes.${kind}`, { count, shown: format.number(count) });
  if (count === 0) return words;
  return (
    <TextLink
      href={vmsAddress({ became: [health], changedAfter: since })}
      prefetch={false}
      data-count={count}
      className="text-ink-2 no-underline hover:underline"
    >
      {words}
    </TextLink>
  );
}
