'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, Field, FieldError } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';

/** Existing namespaces, and a new namespace that is created when the form is submitted. */
export interface ChosenNamespaces {
  namespaces: readonly string[];
  added: { namespace: string; displayName: string } | undefined;
}

/**
 * Returns the publisher to create; undefined if there is no new namespace. If there is no display name, the namespace
 * is used instead.
 */
export function newPublisherOf({ added }: ChosenNamespaces): ChosenNamespaces['added'] {
  const namespace = added?.namespace.trim() ?? '';
  return namespace === '' ? undefined : { namespace, displayName: added?.displayName.trim() || namespace };
}

export interface NamespacePickerProps {
  value: ChosenNamespaces;
  onChange(value: Partial<ChosenNamespaces>): void;
  error?: string | undefined;
}

/** Number of namespaces that are listed. If there are more, a search field finds the other namespaces. */
const listed = 8;

/** Chooses the namespaces of a publisher, existing or new. */
export function NamespacePicker({ value, onChange, error }: NamespacePickerProps) {
  const { t } = useTranslation('settings');
  const errorId = useId();
  // After the fields of the new namespace are removed, the focus returns to the button that added them.
  const [wasRemoved, setRemoved] = useState(false);
  return (
    <fieldset className="grid gap-2" aria-describedby={error === undefined ? undefined : errorId}>
      <legend className="mb-1 text-12 font-medium">{t('namespaces')}</legend>
      <ExistingNamespaces chosen={value.namespaces} onChange={(namespaces) => onChange({ namespaces })} />
      {value.added === undefined ? (
        <Button
          size="sm"
          autoFocus={wasRemoved}
          className="justify-self-start"
          onClick={() => onChange({ added: { namespace: '', displayName: '' } })}
        >
          <Plus aria-hidden />
          {t('namespaces.new')}
        </Button>
      ) : (
        <NewNamespace
          value={value.added}
          onChange={(added) => {
            setRemoved(added === undefined);
            onChange({ added });
          }}
        />
      )}
      <div id={errorId} aria-live="polite" className="empty:hidden">
        {error === undefined ? null : <FieldError>{error}</FieldError>}
      </div>
    </fieldset>
  );
}

interface ExistingNamespacesProps {
  chosen: readonly string[];
  onChange(namespaces: string[]): void;
}

function ExistingNamespaces({ chosen, onChange }: ExistingNamespacesProps) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const explain = useProblem();
  const [q, setQ] = useState('');
  const found = useQuery({
    ...trpc.publishers.list.queryOptions({ limit: listed, ...(q.trim() !== '' && { q: q.trim() }) }),
    placeholderData: keepPreviousData,
  });
  if (found.error) return <FieldError>{explain(found.error).message}</FieldError>;
  if (found.data === undefined) return <Skeleton className="h-5 w-48" />;
  const { items, nextCursor } = found.data;
  if (items.length === 0 && q === '') return <p className="text-ink-2">{t('namespaces.noneExist')}</p>;
  const rows = items.map(({ namespace }) => namespace);
  // Chosen namespaces stay visible while the search shows other namespaces.
  const shown = [...chosen.filter((namespace) => !rows.includes(namespace)), ...rows];
  return (
    <>
      {nextCursor !== null || q !== '' ? (
        <Input
          type="search"
          aria-label={t('namespaces.search')}
          placeholder={t('namespaces.search')}
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
      ) : null}
      <div className="grid max-h-44 gap-1.5 overflow-y-auto py-0.5 ps-0.5">
        {shown.map((namespace) => (
          <ControlRow
            key={namespace}
            control={
              <Checkbox
                checked={chosen.includes(namespace)}
                onCheckedChange={(checked) =>
                  onChange(checked === true ? [...chosen, namespace] : chosen.filter((each) => each !== namespace))
                }
              />
            }
          >
            <span translate="no" className="mono break-words">
              {namespace}
            </span>
          </ControlRow>
        ))}
        {shown.length === 0 ? <p className="text-ink-2">{t('namespaces.noMatch')}</p> : null}
      </div>
    </>
  );
}

type Added = NonNullable<ChosenNamespaces['added']>;

function NewNamespace({ value, onChange }: { value: Added; onChange(value: Added | undefined): void }) {
  const { t } = useTranslation('settings');
  return (
    <div className="grid gap-2 border-s-2 border-line ps-3">
      <Field label={t('namespaces.new.name')} hint={t('namespaces.new.hint')}>
        <Input
          mono
          autoFocus
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          maxLength={128}
          value={value.namespace}
          onChange={(event) => onChange({ ...value, namespace: event.target.value })}
        />
      </Field>
      <Field label={t('namespaces.new.display')} hint={t('namespaces.new.display.hint')}>
        <Input
          autoComplete="off"
          maxLength={200}
          value={value.displayName}
          onChange={(event) => onChange({ ...value, displayName: event.target.value })}
        />
      </Field>
      <Button size="sm" variant="ghost" className="-ms-2 justify-self-start" onClick={() => onChange(undefined)}>
        {t('namespaces.new.cancel')}
      </Button>
    </div>
  );
}
