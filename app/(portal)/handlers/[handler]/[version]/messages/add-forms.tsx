'use client';

import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { canonicalLanguage } from '#protocol/language.ts';

/** Adds a language to the table. The portal stores the language once it has a text. */
export function AddLanguage({ known, onAdd }: { known: readonly string[]; onAdd(lang: string): void }) {
  const { t } = useTranslation(['localization', 'common']);
  const [tag, setTag] = useState<string>();
  const [wrong, setWrong] = useState(false);
  if (tag === undefined) {
    return (
      <Button size="sm" onClick={() => setTag('')}>
        <Plus aria-hidden />
        {t('localization:addLanguage')}
      </Button>
    );
  }
  const close = () => {
    setTag(undefined);
    setWrong(false);
  };
  return (
    <Form
      className="flex flex-wrap items-center gap-2"
      onKeyDown={(event) => event.key === 'Escape' && close()}
      onEdit={() => setWrong(false)}
      onSubmit={() => {
        const lang = canonicalLanguage(tag);
        if (lang === null) return setWrong(true);
        if (!known.includes(lang)) onAdd(lang);
        close();
      }}
    >
      {wrong ? (
        <span role="alert" id="language-form">
          <FieldError>{t('localization:language.form')}</FieldError>
        </span>
      ) : null}
      <Input
        ref={(input) => input?.focus()}
        mono
        aria-label={t('localization:language.tag')}
        aria-invalid={wrong || undefined}
        aria-describedby={wrong ? 'language-form' : undefined}
        placeholder="de-AT"
        value={tag}
        onChange={(event) => setTag(event.target.value)}
        className="h-(--control-sm) w-24"
        spellCheck={false}
        autoCapitalize="off"
      />
      <Button size="sm" type="submit">
        {t('localization:language.add')}
      </Button>
    </Form>
  );
}

/** Adds a message by its id, or finds the existing message with this id, and opens it in the table for editing. */
export function AddMessage({ known, onAdd }: { known: readonly string[]; onAdd(id: string): void }) {
  const { t } = useTranslation('localization');
  const [id, setId] = useState('');
  const wanted = id.trim();
  const isKnown = known.includes(wanted);
  return (
    <Form
      className="flex flex-wrap items-center gap-2 border-t border-line-subtle px-4 py-2.5"
      onSubmit={() => {
        if (wanted === '') return;
        onAdd(wanted);
        setId('');
      }}
    >
      <Input
        mono
        aria-label={t('newId')}
        placeholder={t('newId')}
        value={id}
        maxLength={1024}
        onChange={(event) => setId(event.target.value)}
        className="w-56"
        spellCheck={false}
        autoCapitalize="off"
      />
      <Button type="submit" disabled={wanted === ''}>
        {isKnown ? t('openMessage') : t('addMessage')}
      </Button>
    </Form>
  );
}
