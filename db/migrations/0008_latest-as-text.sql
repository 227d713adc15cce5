ALTER TABLE "extension_latest" ALTER COLUMN "handler_state" SET DATA TYPE json USING "handler_state"::json;--> statement-breakpoint
ALTER TABLE "extension_latest" ALTER COLUMN "heartbeat" SET DATA TYPE json USING "heartbeat"::json;--> statement-breakpoint
ALTER TABLE "extension_latest" ALTER COLUMN "status" SET DATA TYPE json USING "status"::json;