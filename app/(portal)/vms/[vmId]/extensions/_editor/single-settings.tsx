'use client';

import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { SealedField } from '#app/_ui/sealed-field.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { NewSetting } from './new-setting.tsx';
import { fieldsOf, ProtectedBox, type ProtectedField, type ProtectedSettingsProps } from './protected-form.tsx';
import { FreeSecretField, SecretField } from './secret-field.tsx';
import { type SingleChange, withChange } from './single-change.ts';
import { useRestoredFocus } from './use-restored-focus.ts';

type Present = NonNullable<ProtectedSettingsProps['present']>;
type StoredSetting = Present['settings'][number];

interface Props extends ProtectedSettingsProps {
  present: Present;
  onReplaceAll(): void;
}

/** Stored protected settings, each of which can be changed or removed while the others stay. */
export function SingleSettings({ form, present, value, onChange, faultAt, onReplaceAll }: Props) {
  const { t } = useTranslation('editor');
  const [adding, setAdding] = useState<{ key: number; name: string } | null>(null);
  const draft = value.mode === 'change' ? value : noChange;
  const stored = new Map(present.settings.map((setting) => [setting.name, setting]));
  const fields = form.kind === 'fields' ? fieldsOf(form) : [];
  const defined = new Set(fields.map(({ name }) => name));
  const others = [...new Set([...stored.keys(), ...draft.open])]
    .filter((name) => !defined.has(name) && name !== adding?.name)
    .map((name): ProtectedField => ({ name, title: name, required: false, schema: undefined }));
  const general = faultAt('');
  return (
    <div className="grid gap-3.5">
      {[...fields, ...others].map((field) => (
        <SingleSetting
          key={field.name}
          field={field}
          stored={stored.get(field.name)}
          draft={draft}
          onChange={onChange}
          fault={faultAt(field.name)}
        />
      ))}
      {adding === null ? null : (
        <NewSetting
          key={adding.key}
          name={adding.name}
          taken={(name) => name !== adding.name && (stored.has(name) || Object.hasOwn(draft.set, name))}
          onChange={(name, given) => {
            onChange(
              withChange(withChange(draft, adding.name, 'keep'), name, given === undefined ? 'keep' : { given }),
            );
            setAdding({ ...adding, name });
          }}
        />
      )}
      {present.unnamed === 0 ? null : (
        <p className="text-12 text-ink-3">{t('protected.unnamed', { count: present.unnamed })}</p>
      )}
      {general === undefined ? null : <FieldError>{general}</FieldError>}
      <div className={cn('flex flex-wrap gap-2', form.kind === 'json' || '-ms-2')}>
        {form.kind === 'json' ? (
          <>
            <Button size="sm" onClick={() => setAdding({ key: (adding?.key ?? 0) + 1, name: '' })}>
              <Plus aria-hidden />
              {t('protected.addOne')}
            </Button>
            <Button size="sm" variant="ghost" onClick={onReplaceAll}>
              {t('protected.replaceAll')}
            </Button>
          </>
        ) : null}
        <Button size="sm" variant="ghost" onClick={() => onChange({ mode: 'remove' })}>
          {t('protected.remove')}
        </Button>
      </div>
    </div>
  );
}

const noChange: SingleChange = { mode: 'change', set: {}, remove: [], open: [] };

interface SingleSettingProps {
  field: ProtectedField;
  stored: StoredSetting | undefined;
  draft: SingleChange;
  onChange(draft: SingleChange): void;
  fault: string | undefined;
}

function SingleSetting(props: SingleSettingProps) {
  const { field, draft } = props;
  const isOpen = draft.open.includes(field.name);
  const place = useRestoredFocus(isOpen ? 'open' : draft.remove.includes(field.name) ? 'removed' : 'kept');
  return (
    <div ref={place}>
      {props.stored === undefined || isOpen ? (
        <OpenSetting {...props} title={titleOf(field)} />
      ) : (
        <PresentSetting {...props} stored={props.stored} />
      )}
    </div>
  );
}

const titleOf = ({ title, name }: ProtectedField): string => title ?? name;

/** A stored setting that stays or will be removed. */
function PresentSetting({ field, stored, draft, onChange, fault }: SingleSettingProps & { stored: StoredSetting }) {
  const { t } = useTranslation(['editor', 'common']);
  const { name, required } = field;
  const title = titleOf(field);
  const set = (to: 'keep' | 'empty' | 'remove') => onChange(withChange(draft, name, to));
  return (
    <div className="grid gap-[5px]" data-at={`protected:/${name}`}>
      <div className="text-12 font-medium wrap-anywhere">
        <span lang="" translate={field.schema === undefined ? 'no' : undefined}>
          {title}
        </span>
        {required ? <span className="ms-1 font-normal text-ink-3">{t('common:required')}</span> : null}
      </div>
      {draft.remove.includes(name) ? (
        <ProtectedBox>
          <span className="flex-1">{t('protected.removedOne')}</span>
          <Button size="sm" variant="ghost" aria-label={t('protected.undoOne', { title })} onClick={() => set('keep')}>
            {t('protected.keepOld')}
          </Button>
        </ProtectedBox>
      ) : (
        <SealedSetting
          title={title}
          stored={stored}
          onOpen={() => set('empty')}
          onRemove={required ? undefined : () => set('remove')}
        />
      )}
      {fault === undefined ? null : <FieldError>{fault}</FieldError>}
    </div>
  );
}

/** An input for a setting that is changed or that is not stored yet. */
function OpenSetting({ field, stored, draft, onChange, fault, title }: SingleSettingProps & { title: string }) {
  const { t } = useTranslation('editor');
  const { name, required, schema } = field;
  const isNew = stored === undefined;
  const input = {
    name,
    title,
    required,
    takesFocus: draft.open.includes(name),
    value: draft.set[name],
    fault,
    note: isNew ? undefined : t('protected.emptyKeeps'),
    onChange: (given: unknown) => onChange(withChange(draft, name, given === undefined ? 'empty' : { given })),
  };
  return (
    <div className="grid gap-1.5">
      {schema === undefined ? <FreeSecretField {...input} /> : <SecretField {...input} schema={schema} />}
      {isNew && schema !== undefined ? null : (
        <div className="-ms-2">
          <Button
            size="sm"
            variant="ghost"
            aria-label={t(isNew ? 'protected.discardOne' : 'protected.undoOne', { title })}
            onClick={() => onChange(withChange(draft, name, 'keep'))}
          >
            {t(isNew ? 'protected.undoNew' : 'protected.keepOld')}
          </Button>
        </div>
      )}
    </div>
  );
}

interface SealedSettingProps {
  title: string;
  stored: StoredSetting;
  onOpen(): void;
  /** Undefined if the schema requires the setting. */
  onRemove: (() => void) | undefined;
}

function SealedSetting({ title, stored, onOpen, onRemove }: SealedSettingProps) {
  const { t } = useTranslation('editor');
  return (
    <SealedField
      changed={
        <span>
          <Trans
            text={t('protected.changed', { name: stored.changedBy })}
            tags={{ when: <RelativeTime value={new Date(stored.changedAt)} /> }}
          />
        </span>
      }
      actions={
        <span className="flex gap-2">
          <Button size="sm" aria-label={t('protected.change', { title })} onClick={onOpen}>
            {t('protected.changeOne')}
          </Button>
          {onRemove === undefined ? null : (
            <Button size="sm" aria-label={t('protected.removeNamed', { title })} onClick={onRemove}>
              {t('protected.removeOne')}
            </Button>
          )}
        </span>
      }
    />
  );
}
