'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Status } from '#app/_ui/status.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { statusOfStep } from '#app/(portal)/rollouts/rollout-data.ts';
import { isUndecided, type Membership, type ReadMemberships } from './memberships.ts';
import { LoadFailed } from './rollout-lines.tsx';
import { useMemberships } from './use-memberships.ts';

/** Number of rollouts that are shown at first. */
const shownAtFirst = 5;

/** The rollouts in which the VM's part has ended, newest first; renders nothing if there are none. */
export function PastRollouts({ vmId, first }: { vmId: string; first: ReadMemberships | undefined }) {
  const { t } = useTranslation(['memberships', 'common']);
  const list = useMemberships(vmId, first);
  const [all, setAll] = useState(false);
  if (list.error && !list.data) return <LoadFailed error={list.error} onRetry={() => void list.refetch()} />;
  const past = list.data?.items.filter((one) => !isUndecided(one)) ?? [];
  if (past.length === 0) return null;
  const rest = past.length - shownAtFirst;
  return (
    <Card className="mb-4">
      <CardHeader title={t('memberships:past')} note={t('memberships:past.note', { count: past.length })} />
      <TableFrame label={t('memberships:past')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('memberships:past.rollout')}</Th>
              <Th>{t('memberships:past.state')}</Th>
              <Th className="max-sm:hidden">{t('memberships:past.place')}</Th>
              <Th end className="max-sm:hidden">
                {t('memberships:past.when')}
              </Th>
            </tr>
          </THead>
          <TBody>
            {(all ? past : past.slice(0, shownAtFirst)).map((membership) => (
              <PastRow key={membership.rollout.id} membership={membership} />
            ))}
          </TBody>
        </Table>
      </TableFrame>
      {rest <= 0 || all ? null : (
        <div className="border-t border-line-subtle p-1.5">
          <Button size="sm" variant="ghost" onClick={() => setAll(true)}>
            {t('common:showMore')}
          </Button>
        </div>
      )}
    </Card>
  );
}

function PastRow({ membership: { rollout, ring, place, state, cause, decidedAt } }: { membership: Membership }) {
  const { t } = useTranslation('memberships');
  const format = useFormat();
  const why = useWhy();
  const reason = why(cause);
  return (
    <Tr>
      <Td className="py-1.5 whitespace-normal">
        <TextLink href={`/rollouts/${rollout.id}`} prefetch={false} translate="no" className="wrap-anywhere">
          {rollout.name}
        </TextLink>
      </Td>
      <Td className="py-1.5 whitespace-normal">
        <Status status={statusOfStep[state]}>{t(`state.${shownState(state)}`)}</Status>
        {reason === null ? null : <span className="block text-12 text-ink-3">{reason}</span>}
      </Td>
      <Td className="tabular-nums max-sm:hidden">
        <span translate="no">{ring.name}</span>, {format.number(place + 1)}
      </Td>
      <Td end className="tabular-nums max-sm:hidden">
        {decidedAt === null ? '–' : <DateTime value={new Date(decidedAt)} />}
      </Td>
    </Tr>
  );
}

const named = [
  'succeeded',
  'failed',
  'reverted',
  'stuck',
  'overtaken',
  'skipped',
  'gone',
  'unreached',
  'parked',
] as const;

const shownState = (state: Membership['state']) => named.find((each) => each === state) ?? ('open' as const);

const own = ['moved', 'left-selection', 'superseded', 'already', 'not-healthy', 'unsteady', 'silent'] as const;
const ofHealth = ['exit', 'timeout', 'command', 'status', 'substatus', 'heartbeat', 'deadline'] as const;

/** Returns a function that says why a step ended as it did; null if the state says it all. */
function useWhy(): (cause: string | null) => string | null {
  const { t } = useTranslation(['memberships', 'timeline']);
  return (cause) => {
    if (cause?.startsWith('refused:')) return t('memberships:why.refused', { code: cause.slice('refused:'.length) });
    const mine = own.find((each) => each === cause);
    if (mine !== undefined) return t(`memberships:why.${mine}`);
    const health = ofHealth.find((each) => each === cause);
    return health === undefined ? null : t(`timeline:cause.${health}`);
  };
}
