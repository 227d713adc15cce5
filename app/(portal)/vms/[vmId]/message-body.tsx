'use client';

import dynamic from 'next/dynamic';
import { useMemo } from 'react';
import { jsonOf } from './json-of.ts';
import { MarkedText, MessageText } from './message-line.tsx';
import type { Said } from './vm-data.ts';

/** Few messages need it. It is drawn on the server, so nothing moves when its script comes. */
const JsonMessage = dynamic(() => import('./json-message.tsx').then((module) => module.JsonMessage));

/** The text of a message with its line breaks; JSON as a tree. `marked`: nothing beside it says where it comes from. */
export function MessageBody({ said, marked = false }: { said: Said; marked?: boolean }) {
  const value = useMemo(() => jsonOf(said.text), [said.text]);
  if (value !== undefined) return <JsonMessage value={value} said={said} />;
  return marked ? <MarkedText said={said} /> : <MessageText said={said} />;
}
