/** Ends a sentence such as `The plan failed: {{1}}` correctly if the agent reported no text for its last param. */
export const endSentence = (text: string): string => text.trim().replace(/:$/, '.');
