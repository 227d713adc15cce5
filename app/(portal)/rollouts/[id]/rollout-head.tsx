'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { rolloutHref, type ShownRollout, statusOfState } from '../rollout-data.ts';
import { useChangeWords } from '../use-change-words.ts';
import { FormLinks } from './act-buttons.tsx';

/** The name, state and change of a rollout, and the rollouts that it belongs to. */
export function RolloutHead({ rollout }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { state, kind, counts, rings, note } = rollout;
  const size = { count: counts.members, n: format.number(counts.members) };
  return (
    <PageHeader
      title={<span translate="no">{rollout.name}</span>}
      badge={
        <>
          <StatusBadge size="lg" status={statusOfState[state]}>
            {t(`state.${state}`)}
          </StatusBadge>
          {kind === 'rollout' ? null : <Chip>{t(`kind.${kind}`)}</Chip>}
        </>
      }
      note={
        counts.members === 0
          ? t(rollout.plan === null ? 'list.notPlanned' : 'list.rings', { count: rings.length })
          : t('live.members', { ...size, rings: t('list.rings', { count: rings.length }) })
      }
      actions={<FormLinks rollout={rollout} />}
    >
      <Facts items={useFacts(rollout)} />
      {note === null ? null : <p className="mt-1.5 max-w-[90ch] text-ink-2 wrap-anywhere">{note}</p>}
    </PageHeader>
  );
}

function useFacts(rollout: ShownRollout): { label: string; value: ReactNode }[] {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const change = useChangeWords();
  const { createdBy, createdAt, startedAt, startedBy, endedAt, of, revertedBy, supersededBy } = rollout;
  const moment = (at: string) => format.dateTime(new Date(at), 'short');
  const link = (label: string, id: string | null) =>
    id === null ? [] : [{ label, value: <TextLink href={rolloutHref(id)}>{t('live.openRollout')}</TextLink> }];
  return [
    { label: t('live.change'), value: change(rollout.change) },
    { label: t('live.created'), value: t('live.byAt', { at: moment(createdAt), by: createdBy }) },
    ...(startedAt === null
      ? []
      : [{ label: t('live.started'), value: t('live.byAt', { at: moment(startedAt), by: startedBy ?? createdBy }) }]),
    ...(endedAt === null ? [] : [{ label: t('live.ended'), value: moment(endedAt) }]),
    ...link(t('live.of'), of),
    ...link(t('live.revertedBy'), revertedBy),
    ...link(t('live.supersededBy'), supersededBy),
  ];
}
