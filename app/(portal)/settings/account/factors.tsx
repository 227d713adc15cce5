'use client';

import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { canUsePasskeys } from '#app/_lib/passkeys.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import type { Account, Passkey } from '#app/(auth)/second-factor/account.ts';
import type { FactorAct } from './factor-dialog.tsx';
import { Row, Rows } from './rows.tsx';

const FactorDialog = dynamic(() => import('./factor-dialog.tsx').then((module) => module.FactorDialog), { ssr: false });

/** At this number of recovery codes or fewer, a banner offers new codes. */
const fewCodes = 3;

export interface FactorsProps {
  first: Account;
  /** Whether a portal on this host can use passkeys. The browser must support them too. */
  passkeysPossible: boolean;
}

/** The reader's passkeys, authenticator app and recovery codes. */
export function Factors({ first, passkeysPossible }: FactorsProps) {
  const { t } = useTranslation(['account', 'common']);
  const trpc = useTRPC();
  const account = useQuery({ ...trpc.account.get.queryOptions(), initialData: first });
  const [act, setAct] = useState<FactorAct>();
  const [isPossibleHere, setPossibleHere] = useState(passkeysPossible);
  useEffect(() => setPossibleHere(canUsePasskeys()), []);
  const { passkeys, totp, recoveryCodesLeft } = account.data;
  const hasFactor = passkeys.length > 0 || totp !== null;
  return (
    <Card>
      <CardHeader title={t('account:factors')} note={hasFactor ? t('account:factors.on') : t('account:factors.off')} />
      {account.error === null ? null : <QueryError error={account.error} onRetry={account.refetch} />}
      {hasFactor && recoveryCodesLeft <= fewCodes ? (
        <Banner
          status="warning"
          actions={
            <Button size="sm" onClick={() => setAct({ kind: 'renew-codes' })}>
              {t('account:codes.renew')}
            </Button>
          }
        >
          {t('account:codes.few', { count: recoveryCodesLeft })}
        </Banner>
      ) : null}
      <Rows>
        <Row
          label={t('account:passkeys')}
          note={isPossibleHere ? t('account:passkeys.what') : t('account:passkeys.impossible')}
          actions={
            isPossibleHere ? (
              <Button size="sm" onClick={() => setAct({ kind: 'add-passkey' })}>
                <Plus aria-hidden />
                {t('account:passkeys.add')}
              </Button>
            ) : undefined
          }
        >
          {t('account:passkeys.count', { count: passkeys.length })}
        </Row>
        {passkeys.map((passkey) => (
          <PasskeyRow key={passkey.id} passkey={passkey} onAct={setAct} />
        ))}
        <TotpRow totp={totp} onAct={setAct} />
        {hasFactor ? (
          <Row
            label={t('account:codes')}
            note={t('account:codes.what')}
            actions={
              <Button size="sm" onClick={() => setAct({ kind: 'renew-codes' })}>
                {t('account:codes.renew')}
              </Button>
            }
          >
            {t('account:codes.left', { count: recoveryCodesLeft })}
          </Row>
        ) : null}
      </Rows>
      {act === undefined ? null : <FactorDialog act={act} account={account.data} onClose={() => setAct(undefined)} />}
    </Card>
  );
}

function TotpRow({ totp, onAct }: { totp: Account['totp']; onAct(act: FactorAct): void }) {
  const { t } = useTranslation('account');
  return (
    <Row
      label={t('totp')}
      note={t('totp.what')}
      actions={
        <>
          <Button size="sm" onClick={() => onAct({ kind: 'add-totp' })}>
            {totp === null ? t('totp.add') : t('totp.replace')}
          </Button>
          {totp === null ? null : (
            <Button size="sm" variant="danger" onClick={() => onAct({ kind: 'remove-totp' })}>
              {t('totp.remove')}
            </Button>
          )}
        </>
      }
    >
      {totp === null ? (
        t('totp.none')
      ) : (
        <>
          {t('used')} <RelativeTime value={totp.lastUsedAt} />
        </>
      )}
    </Row>
  );
}

function PasskeyRow({ passkey, onAct }: { passkey: Passkey; onAct(act: FactorAct): void }) {
  const { t } = useTranslation('account');
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 border-t border-line-subtle px-4 py-2 sm:ps-[12rem]">
      <dt className="flex min-w-0 flex-[1_1_12rem] items-center gap-2 font-medium">
        <KeyRound aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        <span translate="no" className="min-w-0 wrap-anywhere">
          {passkey.name}
        </span>
      </dt>
      <dd className="flex flex-wrap gap-x-3 text-12 text-ink-2">
        {passkey.lastUsedAt === null ? (
          <span>
            {t('passkeys.added')} <DateTime value={passkey.createdAt} style="date" />
          </span>
        ) : (
          <span>
            {t('used')} <RelativeTime value={passkey.lastUsedAt} />
          </span>
        )}
        <span className="text-ink-3">{t(passkey.backedUp ? 'passkeys.synced' : 'passkeys.oneDevice')}</span>
      </dd>
      <dd className="ms-auto flex gap-2">
        <Button
          size="sm"
          aria-label={t('passkeys.rename.label', { name: passkey.name })}
          onClick={() => onAct({ kind: 'rename-passkey', passkey })}
        >
          {t('passkeys.rename')}
        </Button>
        <Button
          size="sm"
          variant="danger"
          aria-label={t('passkeys.remove.label', { name: passkey.name })}
          onClick={() => onAct({ kind: 'remove-passkey', passkey })}
        >
          {t('passkeys.remove')}
        </Button>
      </dd>
    </div>
  );
}
