'use client';

import { KeyRound, Smartphone } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { canUsePasskeys } from '#app/_lib/passkeys.ts';
import { signOut } from '#app/_lib/session.ts';
import { Button } from '#app/_ui/button.tsx';
import type { Account } from './account.ts';
import { Confirmation, useIsConfirmed } from './confirmation.tsx';
import { NewPasskey } from './new-passkey.tsx';

const NewTotp = dynamic(() => import('./new-totp.tsx').then((module) => module.NewTotp), { ssr: false });
const RecoveryCodes = dynamic(() => import('./recovery-codes.tsx').then((module) => module.RecoveryCodes), {
  ssr: false,
});

/** Sets up the account's second factor, shows the recovery codes if any were created, then opens the requested page. */
export function FirstFactor({ account, next }: { account: Account; next: string }) {
  const { t } = useTranslation('account');
  const [step, setStep] = useState<'choice' | 'passkey' | 'totp'>('choice');
  const [codes, setCodes] = useState<readonly string[]>();
  const [hasPasskeys, setHasPasskeys] = useState(false);
  const [isConfirmed, setConfirmed] = useIsConfirmed(account);
  useEffect(() => setHasPasskeys(canUsePasskeys()), []);
  const openNext = () => location.assign(next);
  const made = ({ recoveryCodes }: { recoveryCodes: readonly string[] | null }) =>
    recoveryCodes === null ? openNext() : setCodes(recoveryCodes);

  if (codes !== undefined) {
    return (
      <Frame title={t('codes.title')} why={t('codes.why')}>
        <RecoveryCodes codes={codes} onDone={openNext} />
      </Frame>
    );
  }
  if (step !== 'choice' && !isConfirmed) {
    return (
      <Frame title={t('confirm.title')} why={t('confirm.why')}>
        <Confirmation account={account} onDone={setConfirmed} />
      </Frame>
    );
  }
  const back = (
    <Button variant="ghost" onClick={() => setStep('choice')}>
      {t('first.back')}
    </Button>
  );
  if (step === 'passkey') {
    return (
      <Frame title={t('passkeys.add.title')} why={t('passkeys.add.why')}>
        <NewPasskey onDone={made} />
        {back}
      </Frame>
    );
  }
  if (step === 'totp') {
    return (
      <Frame title={t('totp.add.title')} why={t('totp.add.why')}>
        <NewTotp onDone={made} />
        {back}
      </Frame>
    );
  }
  return (
    <Frame title={t('first.title')} why={t('first.why')}>
      {hasPasskeys ? (
        <Choice icon={<KeyRound aria-hidden />} what={t('first.passkey.what')} onChoose={() => setStep('passkey')}>
          {t('first.passkey')}
        </Choice>
      ) : null}
      <Choice icon={<Smartphone aria-hidden />} what={t('first.totp.what')} onChoose={() => setStep('totp')}>
        {t('first.totp')}
      </Choice>
      <Button variant="ghost" onClick={() => void signOut().finally(() => location.assign('/sign-in'))}>
        {t('first.signOut')}
      </Button>
    </Frame>
  );
}

function Frame({ title, why, children }: { title: string; why: string; children: React.ReactNode }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
      <div className="grid gap-1">
        <h1 className="text-16 font-semibold tracking-tight">{title}</h1>
        <p className="text-ink-2">{why}</p>
      </div>
      {children}
    </div>
  );
}

interface ChoiceProps {
  icon: React.ReactNode;
  what: string;
  onChoose(): void;
  children: React.ReactNode;
}

function Choice({ icon, what, onChoose, children }: ChoiceProps) {
  return (
    <button
      type="button"
      onClick={onChoose}
      className="flex items-start gap-3 rounded-md bg-surface p-3 text-start shadow-control hover:bg-hover active:bg-press focus-visible:shadow-focus [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-ink-2"
    >
      {icon}
      <span className="grid min-w-0 gap-0.5">
        <span className="font-medium">{children}</span>
        <span className="text-12 text-ink-2">{what}</span>
      </span>
    </button>
  );
}
