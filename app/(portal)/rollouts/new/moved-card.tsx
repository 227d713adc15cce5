'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { memberKinds } from '#server/domain/rollout-rules/words.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import { movedRows } from './moved.ts';

/** What moved between the plan and the start, by kind before and after, and a button that plans again. */
export function MovedCard({ rollout, onAgain }: { rollout: RolloutView; onAgain(): void }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const reason = rollout.why.find(({ code }) => code === 'plan_moved_on');
  if (reason === undefined) return null;
  const rows = movedRows(reason.params ?? {});
  const word = (kind: string) => {
    const found = memberKinds.find((one) => one === kind);
    return found === undefined ? t('new.moved.none') : t(`new.plan.kind.${found}`);
  };
  return (
    <div className="grid gap-2">
      <Banner
        status="warning"
        role="alert"
        boxed
        actions={
          <Button size="sm" variant="primary" onClick={onAgain}>
            {t('new.plan.again')}
          </Button>
        }
      >
        {t(rows.length === 0 ? 'new.moved.definition' : 'new.moved')}
      </Banner>
      {rows.length === 0 ? null : (
        <TableFrame label={t('new.moved')}>
          <Table className="tabular-nums">
            <THead>
              <tr>
                <Th>{t('new.moved.from')}</Th>
                <Th>{t('new.moved.to')}</Th>
                <Th end>{t('new.plan.vms')}</Th>
              </tr>
            </THead>
            <TBody>
              {rows.map(({ from, to, count }) => (
                <Tr key={`${from} ${to}`}>
                  <Td>{word(from)}</Td>
                  <Td>{word(to)}</Td>
                  <Td end>{format.number(count)}</Td>
                </Tr>
              ))}
            </TBody>
          </Table>
        </TableFrame>
      )}
    </div>
  );
}
