'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, faultAt } from '#app/_lib/problem.ts';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { readTags, writeTags } from './tags.ts';

interface NameAndTags {
  name: string;
  tags: Readonly<Record<string, string>>;
}

export interface NameAndTagsFormProps {
  /** Id of the form, for a submit button outside it. */
  id: string;
  initial?: NameAndTags;
  /** Why the last attempt failed. Field errors are shown at their fields. */
  problem: ExplainedProblem | undefined;
  busy: boolean;
  /** Called when the user changes a field. */
  onEdit(): void;
  /** Called on submit, unless the tags are invalid. */
  onSubmit(values: { name: string; tags: Record<string, string> }): void;
}

/** Edits the name and tags of a new or existing VM. */
export function NameAndTagsForm({ id, initial, problem, busy, onEdit, onSubmit }: NameAndTagsFormProps) {
  const { t } = useTranslation('vms');
  const [name, setName] = useState(initial?.name ?? '');
  const [tags, setTags] = useState(writeTags(initial?.tags ?? {}));
  const parsed = readTags(tags);
  const tagsFault = problem?.faults.find((fault) => fault.path.startsWith('/tags'))?.message;
  const isNameTaken = problem?.code === 'vm_name_taken';
  return (
    <Form
      id={id}
      className="grid gap-3"
      busy={busy}
      onEdit={onEdit}
      onSubmit={() => {
        if (parsed) onSubmit({ name, tags: parsed });
      }}
    >
      <Field
        label={t('enroll.name')}
        hint={t('enroll.name.hint')}
        error={isNameTaken ? problem.message : faultAt(problem, '/name')}
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
      <Field label={t('enroll.tags')} hint={t('enroll.tags.hint')} error={parsed ? tagsFault : t('enroll.tags.form')}>
        <Input autoComplete="off" value={tags} onChange={(event) => setTags(event.target.value)} />
      </Field>
      {problem && problem.faults.length === 0 && !isNameTaken ? (
        <div role="alert">
          <FieldError>{problem.message}</FieldError>
        </div>
      ) : null}
    </Form>
  );
}
