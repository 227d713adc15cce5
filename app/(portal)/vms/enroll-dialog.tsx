'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { EnrollCommands } from './enroll-commands.tsx';
import { readTags } from './tags.ts';

/** Makes a VM and shows, once, what its machine has to run. */
export function EnrollDialog({ gatewayUrl, onClose }: { gatewayUrl: string; onClose(): void }) {
  const { t } = useTranslation(['vms', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const formId = useId();
  const [name, setName] = useState('');
  const [tags, setTags] = useState('');
  const create = useMutation(
    trpc.vms.create.mutationOptions({ onSuccess: () => queryClient.invalidateQueries(trpc.vms.pathFilter()) }),
  );
  const problem = create.error ? explain(create.error) : undefined;
  const parsed = readTags(tags);
  const tagsFault = problem?.faults.find((fault) => fault.path.startsWith('/tags'))?.message;

  if (create.data) {
    return (
      <Dialog
        open
        onOpenChange={onClose}
        title={t('vms:enrolled.title', { name: create.data.name })}
        description={t('vms:enrolled.why')}
        footer={
          <Button asChild variant="primary">
            <Link href={`/vms/${create.data.id}`}>{t('vms:enrolled.open', { name: create.data.name })}</Link>
          </Button>
        }
      >
        <EnrollCommands gatewayUrl={gatewayUrl} token={create.data} />
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('vms:enroll')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={create.isPending}>
            {t('vms:enroll.act')}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed) create.mutate({ name, tags: parsed });
        }}
      >
        <Field
          label={t('vms:enroll.name')}
          hint={t('vms:enroll.name.hint')}
          error={problem?.code === 'vm_name_taken' ? problem.message : faultAt(problem, '/name')}
        >
          <Input
            autoFocus
            required
            autoComplete="off"
            maxLength={128}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <Field
          label={t('vms:enroll.tags')}
          hint={t('vms:enroll.tags.hint')}
          error={parsed ? tagsFault : t('vms:enroll.tags.form')}
        >
          <Input autoComplete="off" value={tags} onChange={(event) => setTags(event.target.value)} />
        </Field>
        {problem && problem.faults.length === 0 && problem.code !== 'vm_name_taken' ? (
          <div role="alert">
            <FieldError>{problem.message}</FieldError>
          </div>
        ) : null}
      </form>
    </Dialog>
  );
}
