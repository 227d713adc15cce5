'use client';

import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { encode } from 'uqr';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { NewFactorProps } from './new-passkey.tsx';

/** A QR code for an authenticator app, the secret as text, and a field for the first code. */
export function NewTotp({ onDone }: NewFactorProps) {
  const { t } = useTranslation(['account', 'auth', 'common']);
  const trpc = useTRPC();
  const explain = useProblem();
  const [code, setCode] = useState('');
  const start = useMutation(trpc.account.startTotp.mutationOptions());
  const add = useMutation(trpc.account.addTotp.mutationOptions({ onSuccess: onDone }));
  const begin = start.mutate;
  useEffect(() => begin(), [begin]);
  const problem = add.error === null ? undefined : explain(add.error);
  const codeError = problem?.faults[0]?.message;

  if (start.error !== null) {
    return (
      <FailedBanner message={explain(start.error).message} action={t('common:tryAgain')} onAction={() => begin()} />
    );
  }
  return (
    <Form
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
      busy={add.isPending}
      onEdit={() => {
        if (codeError !== undefined) add.reset();
      }}
      onSubmit={() => {
        if (start.data !== undefined) add.mutate({ code });
      }}
    >
      {problem === undefined || codeError !== undefined ? null : (
        <FailedBanner
          message={problem.message}
          action={t('account:totp.add.again')}
          onAction={() => {
            add.reset();
            begin();
          }}
        />
      )}
      <TotpSecret uri={start.data?.uri} secret={start.data?.secret} />
      <Field label={t('account:totp.code')} hint={t('account:totp.code.hint')} error={codeError}>
        <Input
          mono
          required
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={8}
          spellCheck={false}
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      </Field>
      <Button type="submit" variant="primary" busy={add.isPending} className="h-9 w-full">
        {t('account:totp.add.act')}
      </Button>
    </Form>
  );
}

function FailedBanner({ message, action, onAction }: { message: string; action: string; onAction(): void }) {
  return (
    <Banner
      boxed
      status="failed"
      role="alert"
      actions={
        <Button size="sm" onClick={onAction}>
          {action}
        </Button>
      }
    >
      {message}
    </Banner>
  );
}

function TotpSecret({ uri, secret }: { uri: string | undefined; secret: string | undefined }) {
  const { t } = useTranslation('account');
  return (
    <>
      {uri === undefined ? <Skeleton className="mx-auto size-[184px]" /> : <QrCode text={uri} label={t('totp.qr')} />}
      <div className="grid gap-[5px]">
        <span className="text-12 font-medium">{t('totp.secret')}</span>
        {secret === undefined ? (
          <Skeleton className="h-[34px]" />
        ) : (
          <CopyCommand whole command={secret.replaceAll(/(.{4})(?!$)/g, '$1 ')} />
        )}
      </div>
    </>
  );
}

/** Black on white in every theme, because some cameras cannot read inverted QR codes. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 3 });
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="mx-auto size-[184px] rounded-md shadow-hair-subtle"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
