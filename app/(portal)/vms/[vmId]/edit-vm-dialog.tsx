'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { readTags, writeTags } from '#app/(portal)/vms/tags.ts';
import type { VmFacts } from './vm-data.ts';

/** Renames and retags a VM. */
export function EditVmDialog({ facts, onClose }: { facts: VmFacts; onClose(): void }) {
  const { t } = useTranslation(['enrollment', 'vms', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const formId = useId();
  const [name, setName] = useState(facts.name);
  const [tags, setTags] = useState(writeTags(facts.tags));
  const update = useMutation(
    trpc.vms.update.mutationOptions({
      onSuccess: async (vm) => {
        toast(t('enrollment:edit.done', { name: vm.name }));
        onClose();
        await Promise.all([
          queryClient.invalidateQueries(trpc.vms.pathFilter()),
          queryClient.invalidateQueries(trpc.instanceViews.pathFilter()),
        ]);
      },
    }),
  );
  const problem = update.error ? explain(update.error) : undefined;
  const parsed = readTags(tags);
  const tagsFault = problem?.faults.find((fault) => fault.path.startsWith('/tags'))?.message;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('enrollment:edit.title', { name: facts.name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={update.isPending}>
            {t('enrollment:edit.act')}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed) update.mutate({ vmId: facts.id, name, tags: parsed });
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
