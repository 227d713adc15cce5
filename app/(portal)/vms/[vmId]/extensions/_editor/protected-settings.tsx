'use client';

import { Lock } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Textarea } from '#app/_ui/input.tsx';
import { SealedField } from '#app/_ui/sealed-field.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { isEmptySecret, namedSecrets, type ProtectedDraft } from './draft.ts';
import { fieldsOf, ProtectedBox, type ProtectedSettingsProps } from './protected-form.tsx';
import { SecretField } from './secret-field.tsx';
import { SingleSettings } from './single-settings.tsx';
import { useRestoredFocus } from './use-restored-focus.ts';

export const emptyReplacement: ProtectedDraft = { mode: 'replace', values: {}, text: '', unread: false };

/**
 * Edits protected settings, which can be written but not read. Stored values are shown as sealed; typed values stay in
 * the memory of this page until they are applied.
 */
export function ProtectedSettings(props: ProtectedSettingsProps) {
  const place = useRestoredFocus(props.value.mode);
  return (
    <div ref={place}>
      <SettingsInMode {...props} />
    </div>
  );
}

function SettingsInMode(props: ProtectedSettingsProps) {
  const { form, present, value, onChange } = props;
  const { t } = useTranslation('editor');
  const [first, setFirst] = useState('');
  const isGiven = value.mode === 'replace' && !isEmptySecret(value.values);
  if (form.kind === 'none' && present === null && !isGiven) return <p className="text-ink-3">{t('protected.none')}</p>;
  if (value.mode === 'remove' || form.kind === 'none') return <RemoveSettings {...props} />;
  if (value.mode === 'replace') return <ReplaceSettings {...props} value={value} first={first} />;
  const replace = (name: string) => {
    setFirst(name);
    onChange(emptyReplacement);
  };
  if (present !== null && present.obstacle === null) {
    return <SingleSettings {...props} present={present} onReplaceAll={() => replace('')} />;
  }
  if (present !== null) return <SealedSettings {...props} present={present} onReplace={replace} />;
  return (
    <div>
      <Button size="sm" onClick={() => replace('')}>
        {t('protected.add')}
      </Button>
    </div>
  );
}

/** Protected settings that will be removed, or that the version no longer accepts. */
function RemoveSettings({ form, present, value, onChange }: ProtectedSettingsProps) {
  const { t } = useTranslation('editor');
  if (value.mode === 'remove') {
    return (
      <ProtectedBox>
        <span className="flex-1">{t('protected.removed')}</span>
        {form.kind === 'none' ? null : (
          <Button size="sm" variant="ghost" onClick={() => onChange({ mode: 'keep' })}>
            {t('protected.undo')}
          </Button>
        )}
      </ProtectedBox>
    );
  }
  return (
    <ProtectedBox>
      <span className="flex-1">{t('protected.noneButSet')}</span>
      <Button size="sm" onClick={() => onChange({ mode: present === null ? 'keep' : 'remove' })}>
        {t('protected.remove')}
      </Button>
    </ProtectedBox>
  );
}

interface SealedSettingsProps extends ProtectedSettingsProps {
  present: NonNullable<ProtectedSettingsProps['present']>;
  onReplace(name: string): void;
}

/** Stored protected settings that can only be replaced as a whole, and why. */
function SealedSettings({ form, present, mustReplace, onReplace }: SealedSettingsProps) {
  const { t } = useTranslation(['editor', 'common']);
  const changed = (name: string) => {
    const { changedAt, changedBy } = present.settings.find((setting) => setting.name === name) ?? present;
    return (
      <span>
        <Trans
          text={t('protected.changed', { name: changedBy })}
          tags={{ when: <RelativeTime value={new Date(changedAt)} /> }}
        />
      </span>
    );
  };
  return (
    <div className="grid gap-3.5">
      {mustReplace !== undefined ? (
        <Banner status="warning" boxed>
          {mustReplace}
        </Banner>
      ) : present.obstacle === null ? null : (
        <p className="text-12 text-ink-2">{t(`protected.${present.obstacle}`)}</p>
      )}
      {fieldsOf(form).map(({ name, title, required }) => (
        <div key={name} className="grid gap-[5px]" data-at={`protected:/${name}`}>
          <div className="text-12 font-medium">
            {title ?? t('protected.json')}
            {required ? <span className="ms-1 font-normal text-ink-3">{t('common:required')}</span> : null}
          </div>
          <SealedField
            changed={changed(name)}
            actions={
              <Button
                size="sm"
                aria-label={t('protected.replace', { title: title ?? t('protected') })}
                onClick={() => onReplace(name)}
              >
                {t('common:replace')}
              </Button>
            }
          />
        </div>
      ))}
    </div>
  );
}

interface ReplaceSettingsProps extends ProtectedSettingsProps {
  value: Extract<ProtectedDraft, { mode: 'replace' }>;
  /** Name of the field to focus. */
  first: string;
}

/** Inputs for new protected settings, which replace all stored settings. */
function ReplaceSettings({ form, present, value, onChange, mustReplace, faultAt, first }: ReplaceSettingsProps) {
  return (
    <div className="grid gap-3.5">
      {present === null ? null : <ReplacementBanner mustReplace={mustReplace} onChange={onChange} />}
      {form.kind === 'json' ? (
        <SecretJson value={value} onChange={onChange} fault={faultAt('')} takesFocus={present !== null} />
      ) : (
        fieldsOf(form).map(({ name, title, required, schema }) => (
          <SecretField
            key={name}
            name={name}
            title={title ?? name}
            schema={schema}
            required={required}
            takesFocus={name === first}
            value={namedSecrets(value.values)[name]}
            fault={faultAt(name)}
            onChange={(given) => {
              const { [name]: _, ...rest } = namedSecrets(value.values);
              onChange({ ...value, values: given === undefined ? rest : { ...rest, [name]: given } });
            }}
          />
        ))
      )}
      {form.kind === 'fields' && faultAt('') !== undefined ? (
        <p className="text-12 text-failed-text">{faultAt('')}</p>
      ) : null}
    </div>
  );
}

function ReplacementBanner({ mustReplace, onChange }: Pick<ProtectedSettingsProps, 'mustReplace' | 'onChange'>) {
  const { t } = useTranslation('editor');
  return (
    <Banner
      status="unknown"
      icon={<Lock aria-hidden className="size-3.5" />}
      boxed
      actions={
        <span className="flex flex-wrap gap-2">
          {mustReplace === undefined ? (
            <Button size="sm" variant="ghost" onClick={() => onChange({ mode: 'keep' })}>
              {t('protected.keepOld')}
            </Button>
          ) : null}
          <Button size="sm" variant="ghost" onClick={() => onChange({ mode: 'remove' })}>
            {t('protected.remove')}
          </Button>
        </span>
      }
    >
      {mustReplace === undefined ? t('protected.whole') : `${mustReplace} ${t('protected.emptyRemoved')}`}
    </Banner>
  );
}

interface SecretJsonProps {
  value: Extract<ProtectedDraft, { mode: 'replace' }>;
  onChange(value: ProtectedDraft): void;
  fault: string | undefined;
  takesFocus: boolean;
}

/** All protected settings as one JSON value, for versions without a schema or with a schema that a form cannot show. */
function SecretJson({ value, onChange, fault, takesFocus }: SecretJsonProps) {
  const { t } = useTranslation('editor');
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) place.current?.querySelector('textarea')?.focus();
  }, [takesFocus]);
  return (
    <div ref={place} data-at="protected:/">
      <Field
        id={id}
        label={t('protected.json')}
        hint={t('protected.jsonHint')}
        error={value.unread ? t('protected.jsonBroken') : fault}
      >
        <Textarea
          mono
          rows={4}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          data-1p-ignore=""
          value={value.text}
          onChange={(event) => onChange({ mode: 'replace', ...read(event.target.value) })}
        />
      </Field>
    </div>
  );
}

/** Parses the typed value. Rejects null, which would remove the settings: the page has a button for that. */
function read(text: string): { text: string; values: unknown; unread: boolean } {
  if (text.trim() === '') return { text, values: {}, unread: false };
  try {
    const values: unknown = JSON.parse(text);
    if (values !== null) return { text, values, unread: false };
  } catch {
    // The field shows the error.
  }
  return { text, values: {}, unread: true };
}
