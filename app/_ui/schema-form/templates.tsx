'use client';

import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
} from '@rjsf/utils';
import { Plus, X } from 'lucide-react';
import { useContext } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { jsonPointer } from '#protocol/pointer.ts';
import { Button, IconButton } from '../button.tsx';
import { FieldError } from '../field.tsx';
import { SurroundingsContext } from './surroundings.ts';
import { Theirs } from './theirs.tsx';

/** Fields render their own labels, hints and errors. */
export function FieldTemplate({ children, hidden }: FieldTemplateProps) {
  return hidden ? null : children;
}

/** Shows settings in as many columns as fit. A nested group has a line along its side. */
export function ObjectFieldTemplate({ fieldPathId, title, description, properties }: ObjectFieldTemplateProps) {
  const { faultAt } = useContext(SurroundingsContext);
  const { path } = fieldPathId;
  const grid = (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,13rem),1fr))] items-start gap-x-3 gap-y-3.5">
      {properties.map((property) => property.content)}
    </div>
  );
  if (path.length === 0) return grid;
  const fault = faultAt(path);
  const inArray = typeof path.at(-1) === 'number';
  return (
    <fieldset data-at={jsonPointer(path)} className="col-span-full grid gap-2.5 border-s-2 border-line-subtle ps-3">
      {inArray ? null : (
        <legend className="float-left text-12 font-semibold">
          <Theirs>{title}</Theirs>
        </legend>
      )}
      {!inArray && description ? (
        <p className="text-12 text-ink-3">
          <Theirs>{description}</Theirs>
        </p>
      ) : null}
      {grid}
      {fault === undefined ? null : <FieldError>{fault}</FieldError>}
    </fieldset>
  );
}

/** A list, with a button that adds an entry. */
export function ArrayFieldTemplate(props: ArrayFieldTemplateProps) {
  const { t } = useTranslation(['editor', 'common']);
  const { faultAt } = useContext(SurroundingsContext);
  const { fieldPathId, title, schema, items, onAddClick, disabled, required } = props;
  const fault = faultAt(fieldPathId.path);
  return (
    <fieldset data-at={jsonPointer(fieldPathId.path)} className="col-span-full grid min-w-0 gap-2">
      <legend className="float-left text-12 font-medium">
        <Theirs>{title}</Theirs>
        {required ? <span className="ms-1 font-normal text-ink-3">{t('common:required')}</span> : null}
      </legend>
      {schema.description === undefined ? null : (
        <p className="text-12 text-ink-3">
          <Theirs>{schema.description}</Theirs>
        </p>
      )}
      {items.length === 0 ? <p className="text-12 text-ink-3">{t('field.listEmpty')}</p> : null}
      {items}
      {fault === undefined ? null : <FieldError>{fault}</FieldError>}
      <div>
        <Button
          size="sm"
          disabled={disabled}
          aria-label={t('field.addTo', { title })}
          onClick={(event) => onAddClick(event)}
        >
          <Plus aria-hidden />
          {t('field.add')}
        </Button>
      </div>
    </fieldset>
  );
}

/** One entry of a list, with a button that removes it. */
export function ArrayFieldItemTemplate({ children, buttonsProps, index, disabled }: ArrayFieldItemTemplateProps) {
  const { t } = useTranslation('editor');
  return (
    <div className="flex min-w-0 items-end gap-1.5">
      <div className="min-w-0 flex-1">{children}</div>
      <IconButton
        label={t('field.remove', { number: index + 1 })}
        disabled={disabled}
        onClick={(event) => buttonsProps.onRemoveItem(event)}
      >
        <X aria-hidden />
      </IconButton>
    </div>
  );
}
