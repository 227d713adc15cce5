'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { Account, Passkey } from '#app/(auth)/second-factor/account.ts';
import { useIsConfirmed } from '#app/(auth)/second-factor/confirmation.tsx';
import { ConfirmationDialog } from '#app/(auth)/second-factor/confirmation-dialog.tsx';
import { NewPasskey } from '#app/(auth)/second-factor/new-passkey.tsx';
import { NewTotp } from '#app/(auth)/second-factor/new-totp.tsx';
import { RecoveryCodes } from '#app/(auth)/second-factor/recovery-codes.tsx';
import { FormDialog } from '../form-dialog.tsx';

/** A change to the passkeys, the authenticator app or the recovery codes. */
export type FactorAct =
  | { kind: 'add-passkey' }
  | { kind: 'add-totp' }
  | { kind: 'remove-totp' }
  | { kind: 'renew-codes' }
  | { kind: 'rename-passkey'; passkey: Passkey }
  | { kind: 'remove-passkey'; passkey: Passkey };

interface FactorDialogProps {
  act: FactorAct;
  account: Account;
  onClose(): void;
}

/**
 * The dialog for one change. Except for renaming, asks for a confirmation first if the last confirmation is too old.
 * Shows recovery codes if the change created any.
 */
export function FactorDialog({ act, account, onClose }: FactorDialogProps) {
  const { t } = useTranslation('account');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isConfirmed, setConfirmed] = useIsConfirmed(account);
  const [codes, setCodes] = useState<readonly string[]>();
  const refresh = () => queryClient.invalidateQueries(trpc.account.pathFilter());

  if (act.kind === 'rename-passkey') return <RenamePasskey passkey={act.passkey} onClose={onClose} onDone={refresh} />;
  if (codes !== undefined) {
    return (
      <Dialog open onOpenChange={onClose} title={t('codes.title')} description={t('codes.why')}>
        <RecoveryCodes codes={codes} onDone={onClose} />
      </Dialog>
    );
  }
  if (!isConfirmed) return <ConfirmationDialog why={t('confirm.why')} onDone={setConfirmed} onClose={onClose} />;
  const made = async ({ recoveryCodes }: { recoveryCodes: readonly string[] | null }) => {
    await refresh();
    if (recoveryCodes !== null) setCodes(recoveryCodes);
    else onClose();
    toast(t(act.kind === 'add-totp' ? 'totp.add.done' : 'passkeys.add.done'));
  };
  if (act.kind === 'add-passkey') {
    return (
      <Dialog open onOpenChange={onClose} title={t('passkeys.add.title')} description={t('passkeys.add.why')}>
        <NewPasskey onDone={made} />
      </Dialog>
    );
  }
  if (act.kind === 'add-totp') {
    return (
      <Dialog open onOpenChange={onClose} title={t('totp.add.title')} description={t('totp.add.why')}>
        <NewTotp onDone={made} />
      </Dialog>
    );
  }
  if (act.kind === 'renew-codes') {
    return (
      <RenewCodes account={account} onClose={onClose} onDone={(fresh) => void refresh().then(() => setCodes(fresh))} />
    );
  }
  return <RemoveFactor act={act} account={account} onClose={onClose} onDone={refresh} />;
}

function RenamePasskey({ passkey, onClose, onDone }: { passkey: Passkey; onClose(): void; onDone(): Promise<void> }) {
  const { t } = useTranslation('account');
  const trpc = useTRPC();
  const explain = useProblem();
  const [name, setName] = useState(passkey.name);
  const rename = useMutation(
    trpc.account.renamePasskey.mutationOptions({
      onSuccess: async () => {
        await onDone();
        onClose();
      },
    }),
  );
  const problem = rename.error === null ? undefined : explain(rename.error);
  const nameError = faultAt(problem, '/name');
  return (
    <FormDialog
      title={t('passkeys.rename.label', { name: passkey.name })}
      act={t('passkeys.rename')}
      busy={rename.isPending}
      onEdit={() => forgetError(rename)}
      onSubmit={() => rename.mutate({ id: passkey.id, name })}
      onClose={onClose}
      error={nameError === undefined ? problem?.message : undefined}
    >
      <Field label={t('passkeys.name')} hint={t('passkeys.name.hint')} error={nameError}>
        <Input
          required
          autoComplete="off"
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}

interface RemoveFactorProps {
  act: { kind: 'remove-totp' } | { kind: 'remove-passkey'; passkey: Passkey };
  account: Account;
  onClose(): void;
  onDone(): Promise<void>;
}

function RemoveFactor({ act, account, onClose, onDone }: RemoveFactorProps) {
  const { t } = useTranslation('account');
  const trpc = useTRPC();
  const explain = useProblem();
  const removePasskey = useMutation(trpc.account.removePasskey.mutationOptions());
  const removeTotp = useMutation(trpc.account.removeTotp.mutationOptions());
  const error = removePasskey.error ?? removeTotp.error;
  const isLast = account.passkeys.length + (account.totp === null ? 0 : 1) === 1;
  const name = act.kind === 'remove-passkey' ? act.passkey.name : '';
  const words = act.kind === 'remove-passkey' ? 'passkeys' : 'totp';
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t(`${words}.remove.title`, { name })}
      description={isLast ? t('factors.last') : t(`${words}.remove.why`)}
      confirmLabel={t(`${words}.remove.label`, { name })}
      error={error === null ? undefined : explain(error).message}
      onConfirm={async () => {
        if (act.kind === 'remove-passkey') await removePasskey.mutateAsync({ id: act.passkey.id });
        else await removeTotp.mutateAsync();
        await onDone();
        toast(t(`${words}.remove.done`, { name }));
      }}
    />
  );
}

interface RenewCodesProps {
  account: Account;
  onClose(): void;
  onDone(codes: readonly string[]): void;
}

function RenewCodes({ account, onClose, onDone }: RenewCodesProps) {
  const { t } = useTranslation('account');
  const trpc = useTRPC();
  const explain = useProblem();
  const renew = useMutation(trpc.account.renewRecoveryCodes.mutationOptions());
  return (
    <FormDialog
      title={t('codes.renew.title')}
      description={t('codes.renew.why', { count: account.recoveryCodesLeft })}
      act={t('codes.renew')}
      busy={renew.isPending}
      onSubmit={() => renew.mutate(undefined, { onSuccess: ({ recoveryCodes }) => onDone(recoveryCodes) })}
      onClose={onClose}
      error={renew.error === null ? undefined : explain(renew.error).message}
    >
      {null}
    </FormDialog>
  );
}
