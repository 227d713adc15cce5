import { words } from '#app/_lib/i18n/server.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { Row, Rows } from '../account/rows.tsx';

export interface AttemptsCardProps {
  attempts: { since: Date; failed: number; lockouts: number; tokens: number };
}

/** The numbers of failed sign-ins, lockouts and rejected API tokens since the portal started. */
export async function AttemptsCard({ attempts }: AttemptsCardProps) {
  const { t } = await words('settings');
  return (
    <Card>
      <CardHeader title={t('attempts')} note={t('attempts.note')} />
      <Rows>
        <Row label={t('attempts.failed')}>
          <Num value={attempts.failed} />
        </Row>
        <Row label={t('attempts.lockouts')} note={t('attempts.lockouts.note')}>
          <Num value={attempts.lockouts} />
        </Row>
        <Row label={t('attempts.tokens')}>
          <Num value={attempts.tokens} />
        </Row>
        <Row label={t('attempts.since')}>
          <DateTime value={attempts.since} />
        </Row>
      </Rows>
    </Card>
  );
}
