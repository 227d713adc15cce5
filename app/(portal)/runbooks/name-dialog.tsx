'use client';

import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { editHref } from './runbook-data.ts';
import { isRunbookName, runbookNameOf } from './runbook-name.ts';

export interface NameDialogProps {
  /** The execution whose plan the runbook starts with. */
  from?: { vmId: string; id: string; name: string };
  onClose(): void;
}

/** Names a new runbook, then opens the editor. */
export function NameDialog({ from, onClose }: NameDialogProps) {
  const { t } = useTranslation('runbooks');
  const client = useTRPCClient();
  const router = useRouter();
  const explain = useProblem();
  const [name, setName] = useState(() => runbookNameOf(from?.name ?? ''));
  const [wasTried, setTried] = useState(false);
  const open = useMutation({
    mutationFn: async () => {
      const { items } = await client.runbooks.list.query({ q: name });
      if (items.some((runbook) => runbook.name === name)) return false;
      const query = from === undefined ? '' : `?vm=${from.vmId}&execution=${from.id}`;
      router.push(`${editHref(name)}${query}`);
      return true;
    },
  });
  const error =
    wasTried && !isRunbookName(name)
      ? t('name.name.wrong')
      : open.data === false
        ? t('name.name.taken')
        : open.error === null
          ? undefined
          : explain(open.error).message;
  return (
    <FormDialog
      title={t(from === undefined ? 'name.title' : 'name.title.from')}
      description={t('name.why')}
      act={t('name.act')}
      busy={open.isPending || open.data === true}
      onEdit={() => open.reset()}
      onSubmit={() => {
        setTried(true);
        if (isRunbookName(name)) open.mutate();
      }}
      onClose={onClose}
    >
      <Field label={t('name.name')} hint={t('name.name.hint')} error={error}>
        <Input
          autoFocus
          mono
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}
