'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { localTime } from '#app/_lib/local-time.ts';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { holdLimits } from '#server/domain/holds/input.ts';
import { endOf, type HoldEnd, holdEnds } from './hold-end.ts';
import type { InstanceDetails, VmFacts } from './vm-data.ts';

interface HoldDialogProps {
  facts: VmFacts;
  view: InstanceDetails;
  onClose(): void;
}

function useInvalidateVm() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () =>
    Promise.all([trpc.vms, trpc.instanceViews].map((part) => queryClient.invalidateQueries(part.pathFilter())));
}

/** Puts a VM on hold, or changes the reason and the end of its hold. */
export function HoldDialog({ facts: { id: vmId, name, agentKind }, view, onClose }: HoldDialogProps) {
  const { t } = useTranslation(['enrollment', 'common']);
  const trpc = useTRPC();
  const formId = useId();
  const [before] = useState(view.agent.hold);
  const explain = useProblem();
  const form = useHoldForm(before);
  const invalidate = useInvalidateVm();
  const hold = useMutation(
    trpc.vms.hold.mutationOptions({
      onSuccess: () => {
        toast(t(before ? 'enrollment:hold.changed' : 'enrollment:hold.done', { name }));
        onClose();
      },
      onSettled: invalidate,
    }),
  );
  const problem = hold.error ? explain(hold.error) : undefined;
  const submit = () => {
    const terms = form.submit();
    if (terms !== null) hold.mutate({ vmId, ...terms });
  };
  const [reasonFault, untilFault] = [faultAt(problem, '/reason'), faultAt(problem, '/until')];
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t(before ? 'enrollment:hold.change.title' : 'enrollment:hold.title', { name })}
      description={t(agentKind === 'stock' ? 'enrollment:hold.what.stock' : 'enrollment:hold.what')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={hold.isPending}>
            {t(before ? 'enrollment:hold.change' : 'enrollment:hold')}
          </Button>
        </>
      }
    >
      <Form
        id={formId}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-3"
        busy={hold.isPending}
        onEdit={() => forgetError(hold)}
        onSubmit={submit}
      >
        <HoldFields form={form} reasonFault={reasonFault} untilFault={untilFault} />
        {problem && !reasonFault && !untilFault ? <FieldError>{problem.message}</FieldError> : null}
      </Form>
    </Dialog>
  );
}

/**
 * Stores the values that the reader enters. `submit` returns them in the form that the portal expects, or null while a
 * required value is missing.
 */
function useHoldForm(before: InstanceDetails['agent']['hold']) {
  const [reason, setReason] = useState(before?.reason ?? '');
  const [end, setEnd] = useState<HoldEnd>(before?.until ? 'at' : 'open');
  const [at, setAt] = useState(before?.until ? localTime(new Date(before.until)) : '');
  const [asked, setAsked] = useState(false);
  const lacksReason = reason.trim() === '';
  const lacksEnd = end === 'at' && Number.isNaN(new Date(at).getTime());
  return {
    ...{ reason, setReason, end, at, setAt },
    setEnd(chosen: HoldEnd) {
      setEnd(chosen);
      if (chosen === 'at' && at === '') setAt(localTime(endOf('1', '', new Date()) ?? new Date()));
    },
    missing: { reason: asked && lacksReason, end: asked && lacksEnd },
    submit() {
      setAsked(true);
      return lacksReason || lacksEnd ? null : { reason, until: endOf(end, at, new Date())?.toISOString() ?? null };
    },
  };
}

interface HoldFieldsProps {
  form: ReturnType<typeof useHoldForm>;
  reasonFault: string | undefined;
  untilFault: string | undefined;
}

function HoldFields({ form, reasonFault, untilFault }: HoldFieldsProps) {
  const { t } = useTranslation('enrollment');
  const endError = form.missing.end ? t('hold.at.missing') : untilFault;
  return (
    <>
      <Field label={t('hold.reason')} error={form.missing.reason ? t('hold.reason.missing') : reasonFault}>
        <Input
          value={form.reason}
          maxLength={holdLimits.reason}
          autoComplete="off"
          onChange={(event) => form.setReason(event.target.value)}
        />
      </Field>
      <Field label={t('hold.end')} error={form.end === 'at' ? undefined : untilFault}>
        <Select
          value={form.end}
          onChange={(event) => form.setEnd(event.target.value as HoldEnd)}
          options={holdEnds.map((end) => ({ value: end, label: t(`hold.end.${end}`) }))}
        />
      </Field>
      {form.end === 'at' ? (
        <Field label={t('hold.at')} error={endError}>
          <Input type="datetime-local" value={form.at} onChange={(event) => form.setAt(event.target.value)} />
        </Field>
      ) : null}
    </>
  );
}

/** Asks for confirmation before releasing a hold. */
export function ReleaseHoldDialog({ facts: { id: vmId, name, agentKind }, onClose }: Omit<HoldDialogProps, 'view'>) {
  const { t } = useTranslation('enrollment');
  const trpc = useTRPC();
  const explain = useProblem();
  const release = useMutation(
    trpc.vms.releaseHold.mutationOptions({
      onSuccess: () => toast(t('hold.release.done', { name })),
      onSettled: useInvalidateVm(),
    }),
  );
  return (
    <ConfirmDialog
      open
      tone="default"
      onOpenChange={onClose}
      title={t('hold.release.title', { name })}
      description={t(agentKind === 'stock' ? 'hold.release.what.stock' : 'hold.release.what')}
      confirmLabel={t('hold.release')}
      onConfirm={() => release.mutateAsync({ vmId })}
      error={release.error ? explain(release.error).message : undefined}
    />
  );
}
