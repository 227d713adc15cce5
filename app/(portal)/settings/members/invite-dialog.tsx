'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { Role } from '#app/_shell/reader.tsx';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { ConfirmationDialog } from '#app/(auth)/second-factor/confirmation-dialog.tsx';
import { FormDialog } from '../form-dialog.tsx';
import { type ChosenNamespaces, NamespacePicker, newPublisherOf } from '../namespace-picker.tsx';
import { RoleField } from '../role-fields.tsx';
import { ShownOnceDialog } from '../shown-once-dialog.tsx';

const lives = ['24', '168', '720'] as const;

/** Creates an invitation with a one-time link, which is shown only once. */
export function InviteDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const format = useFormat();
  const [values, setValues] = useState<InvitationValues>(noValues);
  const [tried, setTried] = useState<Tried>({ recipient: false, namespaces: false });
  const create = useMutation(
    trpc.invitations.create.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.invitations.pathFilter()),
    }),
  );
  const problem = create.error === null ? undefined : explain(create.error);

  if (problem?.code === 'confirmation_required') {
    return (
      <ConfirmationDialog
        why={t('settings:invite.confirm')}
        onDone={() => create.variables === undefined || create.mutate(create.variables)}
        onClose={onClose}
      />
    );
  }
  if (create.data !== undefined) {
    const time = format.dateTime(create.data.expiresAt, 'short');
    return (
      <ShownOnceDialog
        title={t('settings:invite.done.title')}
        description={t('settings:invite.done.why', { time, role: t(`common:role.${values.role}`) })}
        value={create.data.link}
        onClose={onClose}
      />
    );
  }
  const submit = () => {
    setTried({ recipient: true, namespaces: true });
    if (values.recipient.trim() !== '' && hasNamespace(values)) create.mutate(inputOf(values));
  };
  return (
    <FormDialog
      title={t('settings:invite.title')}
      description={t('settings:invite.why')}
      act={t('settings:invite.act')}
      busy={create.isPending}
      onEdit={() => forgetError(create)}
      onSubmit={submit}
      onClose={onClose}
      error={problem?.faults.some(({ path }) => fieldPaths.includes(path)) ? undefined : problem?.message}
    >
      <InvitationFields
        values={values}
        onChange={(changed) => {
          setValues((before) => ({ ...before, ...changed }));
          // Hides the error about missing namespaces when the field for a new namespace opens.
          if (changed.added !== undefined && values.added === undefined) setTried({ ...tried, namespaces: false });
        }}
        tried={tried}
        problem={problem}
      />
    </FormDialog>
  );
}

/** The paths of errors that are shown at a field. */
const fieldPaths = ['/recipient', '/namespaces', '/newPublisher/namespace'];

/** The fields that the last attempt to submit the form checked. */
interface Tried {
  recipient: boolean;
  namespaces: boolean;
}

interface InvitationFieldsProps {
  values: InvitationValues;
  onChange(changed: Partial<InvitationValues>): void;
  tried: Tried;
  problem: ExplainedProblem | undefined;
}

function InvitationFields({ values, onChange, tried, problem }: InvitationFieldsProps) {
  const { t } = useTranslation('settings');
  const isUnnamed = values.recipient.trim() === '';
  return (
    <>
      <Field
        label={t('invite.recipient')}
        hint={t('invite.recipient.hint')}
        error={tried.recipient && isUnnamed ? t('invite.recipient.missing') : faultAt(problem, '/recipient')}
      >
        <Input
          autoFocus
          autoComplete="off"
          maxLength={200}
          value={values.recipient}
          onChange={(event) => onChange({ recipient: event.target.value })}
        />
      </Field>
      <RoleField value={values.role} onChange={(role) => onChange({ role })} />
      {values.role === 'publisher' ? (
        <NamespacePicker
          value={values}
          onChange={onChange}
          error={
            tried.namespaces && !hasNamespace(values)
              ? t('invite.namespaces.missing')
              : (faultAt(problem, '/namespaces') ?? faultAt(problem, '/newPublisher/namespace'))
          }
        />
      ) : null}
      <Field label={t('invite.hours')}>
        <Select
          value={values.hours}
          onChange={(event) => onChange({ hours: event.target.value })}
          options={lives.map((value) => ({ value, label: t(`invite.hours.${value}`) }))}
        />
      </Field>
    </>
  );
}

interface InvitationValues extends ChosenNamespaces {
  recipient: string;
  role: Role;
  hours: string;
}

const noValues: InvitationValues = { recipient: '', role: 'operator', namespaces: [], added: undefined, hours: '168' };

const hasNamespace = ({ role, namespaces, added }: InvitationValues): boolean =>
  role !== 'publisher' || namespaces.length > 0 || newPublisherOf({ namespaces, added }) !== undefined;

function inputOf(values: InvitationValues) {
  const { recipient, role, hours } = values;
  const own = { recipient, role, hours: Number(hours) };
  if (role !== 'publisher') return own;
  return { ...own, namespaces: [...values.namespaces], newPublisher: newPublisherOf(values) };
}
