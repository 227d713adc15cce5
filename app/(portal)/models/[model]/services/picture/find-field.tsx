'use client';

import { Search } from 'lucide-react';
import { type Ref, useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Kbd } from '#app/_ui/kbd.tsx';
import type { ShownService } from '../service-data.ts';
import { findService } from './neighborhood.ts';

export interface FindFieldProps {
  services: readonly Pick<ShownService, 'name'>[];
  ref: Ref<HTMLInputElement>;
  onFind(name: string): void;
}

/** Finds a service of the picture by its name. Enter goes to the first match. */
export function FindField({ services, ref, onFind }: FindFieldProps) {
  const { t } = useTranslation('services');
  const names = useId();
  const [search, setSearch] = useState('');
  const found = findService(services, search);
  const find = (name: string) => {
    setSearch('');
    onFind(name);
  };
  return (
    <form
      className="me-auto flex min-w-0 items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (found !== undefined) find(found);
      }}
    >
      <Input
        ref={ref}
        list={names}
        aria-label={t('picture.find')}
        placeholder={t('picture.find')}
        value={search}
        maxLength={100}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target: { value }, nativeEvent }) => {
          // A choice from the list is not typed text.
          const isChosen = !('inputType' in nativeEvent) || nativeEvent.inputType === 'insertReplacementText';
          if (isChosen && services.some(({ name }) => name === value)) find(value);
          else setSearch(value);
        }}
        className="w-52 max-w-full"
        before={<Search aria-hidden className="size-3.5 shrink-0 text-ink-2" />}
        after={<Kbd>F</Kbd>}
      />
      <datalist id={names}>
        {services.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <span role="status" className="text-12 text-ink-2">
        {search.trim() !== '' && found === undefined ? t('picture.notFound') : null}
      </span>
    </form>
  );
}
