ALTER TABLE "agent_problems" ADD COLUMN "file" text;--> statement-breakpoint
ALTER TABLE "extension_latest" ADD COLUMN "heartbeat_refused" json;--> statement-breakpoint
ALTER TABLE "extension_latest" ADD COLUMN "status_refused" json;